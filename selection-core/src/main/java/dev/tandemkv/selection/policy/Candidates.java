package dev.tandemkv.selection.policy;

import dev.tandemkv.catalog.WorkerRank;
import org.jspecify.annotations.Nullable;

/**
 * The ranks that a request may use, as one component of a policy sees them: rows 0 to {@link #size()} - 1, a set of columns for each
 * {@link PolicyInput}. Columns that the component did not declare are {@code null}.
 *
 * <p>Valid during one call and read-only; row numbers mean nothing to the next call. Do not rely on an order of the rows.
 */
public interface Candidates {

    int size();

    /** Unsigned 64-bit id of the row's worker. */
    long workerId(int row);

    /** Unsigned 32-bit data-parallel rank of the row. */
    int rank(int row);

    default WorkerRank worker(int row) {
        return new WorkerRank(workerId(row), rank(row));
    }

    /** Whether the rows are what a pin or an affinity target left, so that preferences no longer matter. */
    boolean directed();

    @Nullable
    Cache cache();

    @Nullable
    Load load();

    @Nullable
    PreferredTaints preferredTaints();

    @Nullable
    Requests requests();

    /** What a rank caches of the prompt, in blocks. */
    interface Cache {

        /** Leading blocks on the device. */
        int deviceBlocks(int row);

        /** Blocks in host memory that continue the device's. */
        int hostBlocks(int row);

        /** Blocks on disk or in an external store that continue those. */
        int diskBlocks(int row);

        /** Shared-cache blocks at positions after the device's; 0 without a shared cache. */
        int sharedBlocks(int row);

        /** {@code device + hostWeight x host + diskWeight x disk}, with the configured weights. */
        double weightedOverlapBlocks(int row);

        /** {@code min(isl, weightedOverlapBlocks x block size)}: the one figure for what need not be computed, fractions kept. */
        double cachedTokens(int row);

        /** {@code isl - cachedTokens}. */
        double uncachedTokens(int row);

        /** Whether any row has a block in any tier. */
        boolean hasTierMatches();
    }

    /** What is booked on a rank. */
    interface Load {

        /** Booked prefill tokens, decayed. */
        long activePrefillTokens(int row);

        /** Booked decode blocks, without this request. */
        long activeDecodeBlocks(int row);

        /** Booked decode blocks with this request, blocks already active there counted once. */
        long potentialDecodeBlocks(int row);

        /** KV blocks of the rank, or 0 if unknown. */
        long totalKvBlocks(int row);
    }

    /** Preference by taints. */
    interface PreferredTaints {

        /** Whether the request prefers any taint at all. */
        boolean requested();

        /** Sum of the request's weights of the taints that the row's worker has; 0 without a match. */
        double weight(int row);
    }

    /** Requests booked on a rank. */
    interface Requests {

        int activeRequests(int row);
    }
}

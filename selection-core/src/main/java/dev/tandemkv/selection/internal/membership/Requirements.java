package dev.tandemkv.selection.internal.membership;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.host.KvEventIngress;
import dev.tandemkv.selection.internal.partition.CoreContext;
import java.util.ArrayList;
import java.util.List;

/** What a worker must say of itself before it can be chosen. */
final class Requirements {

    /** More ranks than this of one worker are refused: each one costs rows. */
    private static final int MAX_RANKS = 65_536;

    private final CoreContext core;
    private final KvEventIngress ingress;

    Requirements(CoreContext core, KvEventIngress ingress) {
        this.core = core;
        this.ingress = ingress;
    }

    /** @throws BadRequestException if a value is one that no worker of this core can have */
    void requirePossible(WorkerSpec spec) {
        if (Integer.compareUnsigned(spec.rankCount(), MAX_RANKS) > 0) {
            throw new BadRequestException(
                    "data_parallel_size", Integer.toUnsignedString(spec.rankCount()), "<= " + MAX_RANKS);
        }
    }

    /** Why the worker cannot be chosen; empty if it can. */
    List<String> missing(WorkerSpec spec) {
        List<String> reasons = new ArrayList<>(spec.faults());
        if (spec.endpoint() == null || spec.endpoint().isEmpty()) {
            reasons.add("endpoint missing");
        }
        if (spec.blockSize() == null) {
            reasons.add("block_size missing");
        } else if (spec.blockSize() == 0) {
            reasons.add("block_size 0 (expected: >= 1)");
        }
        if (spec.rankCount() == 0) {
            reasons.add("data_parallel_size 0 (expected: >= 1)");
        }
        if (spec.maxNumBatchedTokens() == null
                && core.config().queueProfile(spec.partition().modelName()).queues()) {
            reasons.add("max_num_batched_tokens missing, which the model's queue needs");
        }
        if (core.config().index().useKvEvents() && ingress.listens()) {
            try {
                reasons.addAll(ingress.missingMetadata(spec));
            } catch (RuntimeException e) {
                reasons.add("reconciliation failed: " + e.getMessage());
            }
        }
        return reasons;
    }
}

package dev.tandemkv.selection.host;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * A ready provider for {@link SelectionHost.Builder#overloadedWorkers}: a rank is overloaded while the last known value of any of its load
 * signals is above its threshold. Each signal keeps its own last value, so a report that lacks one signal neither sets nor clears it, and
 * the first healthy sample of a signal ends its part at once.
 *
 * <p>Thread-safe. Thresholds can be changed at run time. All comparisons are strict. After a change that may end an overload the host calls
 * {@code SelectionCore.hostSignalsChanged}.
 */
public final class OverloadGate implements OverloadedWorkers {

    /**
     * Above what a rank is overloaded; {@code null} looks not at the signal.
     *
     * @param activeDecodeFraction of the rank's KV blocks; at least 0
     * @param activePrefillTokens tokens; at least 0
     * @param activePrefillFraction of the rank's {@code max_num_batched_tokens}; at least 0
     */
    public record Thresholds(
            @Nullable Double activeDecodeFraction,
            @Nullable Long activePrefillTokens,
            @Nullable Double activePrefillFraction) {

        public static final Thresholds NONE = new Thresholds(null, null, null);

        /** @throws BadRequestException naming the threshold */
        public Thresholds {
            requireFrom0("active_decode_blocks_threshold", activeDecodeFraction);
            requireFrom0("active_prefill_tokens_threshold_frac", activePrefillFraction);
            if (activePrefillTokens != null && activePrefillTokens < 0) {
                throw new BadRequestException("active_prefill_tokens_threshold", activePrefillTokens, ">= 0");
            }
        }

        private static void requireFrom0(String field, @Nullable Double value) {
            if (value != null && !(Double.isFinite(value) && value >= 0)) {
                throw new BadRequestException(field, value, "finite, >= 0");
            }
        }
    }

    /** The last known value of each signal of one rank; a missing one is {@code null}. */
    private record Signals(
            @Nullable Long decodeBlocks,
            @Nullable Long kvBlocks,
            @Nullable Long prefillTokens,
            @Nullable Long batchTokens) {

        static final Signals NONE = new Signals(null, null, null, null);
    }

    private final ConcurrentMap<WorkerRank, Signals> signals = new ConcurrentHashMap<>();
    private volatile Thresholds thresholds;

    public OverloadGate(Thresholds thresholds) {
        this.thresholds = thresholds;
    }

    public void thresholds(Thresholds changed) {
        thresholds = changed;
    }

    /** The rank's KV blocks in use, of how many. */
    public void decodeLoad(WorkerRank rank, long activeBlocks, long ofBlocks) {
        signals.compute(rank, (r, s) -> {
            Signals last = s == null ? Signals.NONE : s;
            return new Signals(activeBlocks, ofBlocks, last.prefillTokens, last.batchTokens);
        });
    }

    /**
     * The rank's prefill tokens.
     *
     * @param batchTokens its {@code max_num_batched_tokens}, or {@code null} if unknown
     */
    public void prefillLoad(WorkerRank rank, long activeTokens, @Nullable Long batchTokens) {
        signals.compute(rank, (r, s) -> {
            Signals last = s == null ? Signals.NONE : s;
            return new Signals(last.decodeBlocks, last.kvBlocks, activeTokens, batchTokens);
        });
    }

    /** The worker left. */
    public void forget(long workerId) {
        signals.keySet().removeIf(rank -> rank.workerId() == workerId);
    }

    @Override
    public boolean isOverloaded(PartitionKey partition, WorkerRank rank) {
        Signals last = signals.get(rank);
        if (last == null) {
            return false;
        }
        Thresholds above = thresholds;
        return exceeds(last.decodeBlocks, above.activeDecodeFraction, last.kvBlocks)
                || exceeds(last.prefillTokens, above.activePrefillFraction, last.batchTokens)
                || (last.prefillTokens != null
                        && above.activePrefillTokens != null
                        && last.prefillTokens > above.activePrefillTokens);
    }

    private static boolean exceeds(@Nullable Long value, @Nullable Double fraction, @Nullable Long of) {
        return value != null && fraction != null && of != null && value > fraction * of;
    }
}

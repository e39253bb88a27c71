package dev.tandemkv.selection.internal.queue;

import dev.tandemkv.selection.config.QueueClass;
import org.jspecify.annotations.Nullable;

/**
 * When a request of one class has to wait: its class has a threshold, and either others of it wait already or the eligible ranks are
 * busy. The caller counts the ranks, because it knows which are eligible.
 */
public final class QueueGate {

    /** Capacity of a rank that does not say its {@code max_num_batched_tokens}. */
    public static final long UNKNOWN_CAPACITY = 10_000_000;

    private QueueGate() {}

    /** Whether a rank has more prefill load than the class accepts: strictly more than either threshold. */
    public static boolean busy(QueueClass queueClass, long activePrefillTokens, @Nullable Long maxNumBatchedTokens) {
        Long absolute = queueClass.prefillBusyThreshold();
        if (absolute != null && activePrefillTokens > absolute) {
            return true;
        }
        Double fraction = queueClass.prefillBusyThresholdFrac();
        long capacity = maxNumBatchedTokens == null ? UNKNOWN_CAPACITY : maxNumBatchedTokens;
        return fraction != null && activePrefillTokens > fraction * capacity;
    }

    /**
     * Whether the ranks as a whole are busy: all of them, or the class's share of them.
     *
     * @param busy how many of the eligible ranks are busy
     * @param eligible how many are eligible; without any nobody waits
     */
    public static boolean poolBusy(QueueClass queueClass, int busy, int eligible) {
        return eligible > 0 && busy >= neededBusy(queueClass, eligible);
    }

    /** How many busy ranks make the pool busy, so that a caller can stop counting. */
    public static int neededBusy(QueueClass queueClass, int eligible) {
        Double ratio = queueClass.busyWorkerRatio();
        // A product that is whole in decimals may lie a rounding error above the whole number.
        return ratio == null ? eligible : (int) Math.ceil(ratio * eligible - 1e-9);
    }
}

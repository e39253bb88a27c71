package dev.tandemkv.indexer.event;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * By what a batch is told from those that other processes publish under its number. Immutable.
 *
 * @param sequence unsigned number
 * @param timestamp seconds since the epoch by the publisher's clock; never NaN
 */
record BatchMark(long sequence, double timestamp) {

    /** Nothing if the time stamp is unknown. */
    static @Nullable BatchMark of(long sequence, double timestamp) {
        return Double.isNaN(timestamp) ? null : new BatchMark(sequence, timestamp);
    }

    /** Whether the first of these is that batch. */
    boolean begins(List<EventBatch> batches) {
        return !batches.isEmpty()
                && batches.get(0) instanceof EventBatch.Applicable first
                && first.sequence() == sequence
                && first.timestamp() == timestamp;
    }
}

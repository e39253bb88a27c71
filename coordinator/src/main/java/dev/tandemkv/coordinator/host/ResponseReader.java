package dev.tandemkv.coordinator.host;

/**
 * Reads what the guard needs from a response item. Thread-safe, does not block.
 *
 * @param <R> type of a response item
 */
@FunctionalInterface
public interface ResponseReader<R> {

    /**
     * One item.
     *
     * @param tokens new output tokens in it; 0 for items without any
     * @param end whether it says how the response ended
     */
    record Item(int tokens, End end) {
        public Item {
            if (tokens < 0) {
                throw new IllegalArgumentException("tokens: " + tokens + " (expected: >= 0)");
            }
        }
    }

    /** How a response ends, as its items say. */
    enum End {
        NOT_YET,
        WELL,
        /** An error or cancelled: a session does not move to this worker. */
        BADLY
    }

    Item read(R item);
}

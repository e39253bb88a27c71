package dev.tandemkv.indexer.event;

/**
 * When an attempt may be made again: after the first failure the shortest wait, doubled by each further one up to the longest. Not
 * thread-safe; all values are ticks in nanoseconds.
 */
final class Backoff {

    private final long min;
    private final long max;

    /** Wait after the next failure. */
    private long wait;

    private long notBefore;
    private boolean waiting;

    Backoff(long min, long max) {
        this.min = min;
        this.max = max;
        wait = min;
    }

    /** With the waits that a feed is configured for. */
    static Backoff of(FeedConfig config) {
        return new Backoff(config.backoffMin().toNanos(), config.backoffMax().toNanos());
    }

    void failed(long now) {
        notBefore = now + wait;
        waiting = true;
        wait = wait > max / 2 ? max : wait * 2;
    }

    void succeeded() {
        wait = min;
        waiting = false;
    }

    /** The shortest wait, for an attempt that helped but must not be repeated at once. */
    void pause(long now) {
        wait = min;
        notBefore = now + min;
        waiting = true;
    }

    /** How long the next attempt has to wait; 0 if it may be made now. */
    long remaining(long now) {
        return waiting ? Math.max(0, notBefore - now) : 0;
    }
}

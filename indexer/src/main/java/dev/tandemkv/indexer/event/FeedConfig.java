package dev.tandemkv.indexer.event;

import java.time.Duration;
import java.util.Objects;

/**
 * The knobs of a feed. Immutable.
 *
 * @param ingestBound most batches of one rank that may wait while another thread applies; at least 1; default unbounded
 * @param overflow what happens to one more
 * @param maxHeld most batches of one rank kept while a replay or resync runs; at least 1; default 65,536. One more is dropped, counted, and
 *     asked for again afterwards
 * @param replayRounds how often one gap is asked for while each answer brings something new; at least 1; default 8
 * @param replyTimeout after which a replay or resync counts as failed, and what arrived of it is lost; default 30 s. To be more than twice the
 *     silence after which the source hands over an answer that stopped half-way (5 s over ZeroMQ)
 * @param holdLimit longest time that arrived batches wait for a replay that has to wait its turn; a longer wait gives the gap up; default 5 s
 * @param backoffMin first wait after an attempt that did not help; default 1 s
 * @param backoffMax longest wait; default 5 min
 * @param orphanWindow span over which orphaned blocks are compared with stored ones; default 60 s
 * @param orphanMinBlocks fewest stored blocks in the window for the comparison to count; default 1,024
 * @param orphanShare share of orphaned blocks above which the rank drops a rung; 0 to 1; default 0.2
 */
public record FeedConfig(
        int ingestBound,
        Overflow overflow,
        int maxHeld,
        int replayRounds,
        Duration replyTimeout,
        Duration holdLimit,
        Duration backoffMin,
        Duration backoffMax,
        Duration orphanWindow,
        long orphanMinBlocks,
        double orphanShare) {

    /** What happens when the ingest buffer of a rank is full. Nothing is ever dropped silently. */
    public enum Overflow {
        /** The producer waits. If it is interrupted while it waits, as {@link #DROP}. */
        BLOCK,
        /** The batch is dropped, the rank is degraded, and a replay or resync is asked for. */
        DROP
    }

    public FeedConfig {
        Objects.requireNonNull(overflow, "overflow");
        atLeastOne("ingestBound", ingestBound);
        atLeastOne("maxHeld", maxHeld);
        atLeastOne("replayRounds", replayRounds);
        positive("replyTimeout", replyTimeout);
        positive("backoffMin", backoffMin);
        positive("orphanWindow", orphanWindow);
        if (holdLimit.isNegative()) {
            throw new IllegalArgumentException("holdLimit: " + holdLimit + " (expected: >= 0)");
        }
        if (backoffMax.compareTo(backoffMin) < 0) {
            throw new IllegalArgumentException(
                    "backoffMax: " + backoffMax + " (expected: >= backoffMin " + backoffMin + ")");
        }
        if (orphanMinBlocks < 0) {
            throw new IllegalArgumentException("orphanMinBlocks: " + orphanMinBlocks + " (expected: >= 0)");
        }
        if (!(orphanShare >= 0 && orphanShare <= 1)) {
            throw new IllegalArgumentException("orphanShare: " + orphanShare + " (expected: 0 to 1)");
        }
    }

    private static void atLeastOne(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= 1)");
        }
    }

    private static void positive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: > 0)");
        }
    }

    /** All defaults. */
    public static FeedConfig defaults() {
        return builder().build();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Sets what differs from the defaults. Not thread-safe. */
    public static final class Builder {
        private int ingestBound = Integer.MAX_VALUE;
        private Overflow overflow = Overflow.BLOCK;
        private int maxHeld = 65_536;
        private int replayRounds = 8;
        private Duration replyTimeout = Duration.ofSeconds(30);
        private Duration holdLimit = Duration.ofSeconds(5);
        private Duration backoffMin = Duration.ofSeconds(1);
        private Duration backoffMax = Duration.ofMinutes(5);
        private Duration orphanWindow = Duration.ofSeconds(60);
        private long orphanMinBlocks = 1024;
        private double orphanShare = 0.2;

        private Builder() {}

        /** Bounds the batches that wait, and says what happens to one more. */
        public Builder ingestBound(int batches, Overflow policy) {
            ingestBound = batches;
            overflow = policy;
            return this;
        }

        public Builder maxHeld(int batches) {
            maxHeld = batches;
            return this;
        }

        public Builder replayRounds(int rounds) {
            replayRounds = rounds;
            return this;
        }

        public Builder replyTimeout(Duration timeout) {
            replyTimeout = timeout;
            return this;
        }

        public Builder holdLimit(Duration limit) {
            holdLimit = limit;
            return this;
        }

        public Builder backoff(Duration min, Duration max) {
            backoffMin = min;
            backoffMax = max;
            return this;
        }

        /** When orphaned stores make a rank drop a rung. */
        public Builder orphans(Duration window, long minBlocks, double share) {
            orphanWindow = window;
            orphanMinBlocks = minBlocks;
            orphanShare = share;
            return this;
        }

        public FeedConfig build() {
            return new FeedConfig(
                    ingestBound,
                    overflow,
                    maxHeld,
                    replayRounds,
                    replyTimeout,
                    holdLimit,
                    backoffMin,
                    backoffMax,
                    orphanWindow,
                    orphanMinBlocks,
                    orphanShare);
        }
    }
}

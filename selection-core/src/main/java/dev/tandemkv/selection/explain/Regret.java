package dev.tandemkv.selection.explain;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What the choices of one partition gave up: cached blocks against the candidate that held most, and cost against the cheapest.
 *
 * <p>Written inside the partition step only, one call at a time; {@link #snapshot} may be taken by any thread and may mix two
 * decisions.
 */
public final class Regret {

    private final AtomicLong decisions = new AtomicLong();
    private final AtomicLong chosenBlocks = new AtomicLong();
    private final AtomicLong bestBlocks = new AtomicLong();
    private final AtomicLong belowBest = new AtomicLong();
    private final AtomicLong costBits = new AtomicLong();

    /** Nothing counted yet. */
    public Regret() {}

    /**
     * Counts a decision.
     *
     * @param chosenOverlapBlocks blocks of the prompt that the chosen rank holds
     * @param bestOverlapBlocks the most that a candidate holds
     * @param costAboveLowest cost of the chosen rank less the lowest; at least 0
     */
    public void record(int chosenOverlapBlocks, int bestOverlapBlocks, double costAboveLowest) {
        add(decisions, 1);
        add(chosenBlocks, chosenOverlapBlocks);
        add(bestBlocks, bestOverlapBlocks);
        add(belowBest, chosenOverlapBlocks < bestOverlapBlocks ? 1 : 0);
        costBits.lazySet(Double.doubleToRawLongBits(Double.longBitsToDouble(costBits.getPlain()) + costAboveLowest));
    }

    /** One writer at a time, so no read-modify-write is needed. */
    private static void add(AtomicLong counter, long amount) {
        counter.lazySet(counter.getPlain() + amount);
    }

    public Snapshot snapshot() {
        return new Snapshot(
                decisions.get(),
                chosenBlocks.get(),
                bestBlocks.get(),
                belowBest.get(),
                Double.longBitsToDouble(costBits.get()));
    }

    /**
     * The sums so far.
     *
     * @param decisions decisions counted
     * @param chosenOverlapBlocks blocks that the chosen ranks held
     * @param bestOverlapBlocks blocks that the best holders among the candidates held
     * @param decisionsBelowBest decisions for a rank that held less than the best
     * @param costAboveLowest cost given up against the cheapest candidate, in the policy's unit
     */
    public record Snapshot(
            long decisions,
            long chosenOverlapBlocks,
            long bestOverlapBlocks,
            long decisionsBelowBest,
            double costAboveLowest) {

        /** Blocks given up, mostly because their holder was busy. */
        public long lostBlocks() {
            return bestOverlapBlocks - chosenOverlapBlocks;
        }

        /** What came between an earlier snapshot and this one. */
        public Snapshot minus(Snapshot earlier) {
            return new Snapshot(
                    decisions - earlier.decisions,
                    chosenOverlapBlocks - earlier.chosenOverlapBlocks,
                    bestOverlapBlocks - earlier.bestOverlapBlocks,
                    decisionsBelowBest - earlier.decisionsBelowBest,
                    costAboveLowest - earlier.costAboveLowest);
        }
    }
}

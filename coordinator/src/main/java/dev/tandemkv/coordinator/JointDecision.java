package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.Experimental;
import dev.tandemkv.catalog.WorkerRank;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How {@link PlanOrder#JOINT} chose. All costs are in blocks.
 *
 * @param outcome whether a pair was chosen, or why the plan went prefill-anchored
 * @param prefill the chosen prefill rank, or {@code null} without a pair
 * @param decode the chosen decode rank, or {@code null} without a pair
 * @param prefillCost cost of the prefill rank, scaled by the decode worker's preferred domain
 * @param decodeCost cost of the decode rank, scaled by the prefill worker's preferred domain
 * @param transferCost cost of the transfer
 * @param pairs compatible pairs that were compared
 */
@Experimental
public record JointDecision(
        Outcome outcome,
        @Nullable WorkerRank prefill,
        @Nullable WorkerRank decode,
        double prefillCost,
        double decodeCost,
        double transferCost,
        long pairs) {

    /** What happened. */
    public enum Outcome {
        PAIR_CHOSEN,
        /** The prefill pool cannot score; the plan went prefill-anchored. */
        PREFILL_POOL_CANNOT_SCORE,
        /** The decode pool cannot score; the plan went prefill-anchored. */
        DECODE_POOL_CANNOT_SCORE
    }

    public JointDecision {
        Objects.requireNonNull(outcome, "outcome");
    }

    /** A plan that went prefill-anchored. */
    public static JointDecision fallback(Outcome outcome) {
        return new JointDecision(outcome, null, null, 0, 0, 0, 0);
    }

    public double totalCost() {
        return prefillCost + decodeCost + transferCost;
    }
}

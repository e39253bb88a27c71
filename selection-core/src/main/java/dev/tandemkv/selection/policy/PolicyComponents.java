package dev.tandemkv.selection.policy;

import java.util.List;
import java.util.Objects;

/**
 * The parts of a policy in one partition.
 *
 * @param filters in the order they run
 * @param scorers their costs are added
 * @param picker takes one of what is left
 * @param affinity what an eligible affinity target means to this policy
 */
public record PolicyComponents(
        List<WorkerFilter> filters, List<WorkerScorer> scorers, WorkerPicker picker, AffinityUse affinity) {

    /** What an eligible affinity target means. */
    public enum AffinityUse {
        /** Nothing else is a candidate. */
        EXCLUSIVE,
        /** The policy sees it in the request and does as it likes. */
        ADVICE
    }

    public PolicyComponents {
        filters = List.copyOf(filters);
        scorers = List.copyOf(scorers);
        Objects.requireNonNull(picker, "picker");
        Objects.requireNonNull(affinity, "affinity");
    }

    /** Of one scorer, the cheapest; an affinity target is exclusive. */
    public static PolicyComponents cheapest(WorkerScorer scorer) {
        return new PolicyComponents(List.of(), List.of(scorer), SelectionPolicy.cheapest(), AffinityUse.EXCLUSIVE);
    }

    /** What the picker takes without any cost; an affinity target is exclusive. */
    public static PolicyComponents picking(WorkerPicker picker) {
        return new PolicyComponents(List.of(), List.of(), picker, AffinityUse.EXCLUSIVE);
    }
}

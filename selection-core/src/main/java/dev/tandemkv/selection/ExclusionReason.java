package dev.tandemkv.selection;

/** Why a rank is no candidate, in the order in which the checks are made: a rank is counted under the first that fails. */
public enum ExclusionReason {
    /** Outside the request's allow-set, or not the pinned or required rank. */
    NOT_ALLOWED,
    /** Outside what the availability provider lists. */
    UNAVAILABLE,
    /** No such rank is schedulable. */
    RANK_UNAVAILABLE,
    /** A required taint is missing. */
    CONSTRAINTS_UNSATISFIED,
    /** Known to be smaller than the prompt. */
    CAPACITY,
    /** In the overload provider's set. */
    OVERLOADED,
    /** Rejected by a filter of the policy. */
    FILTERED
}

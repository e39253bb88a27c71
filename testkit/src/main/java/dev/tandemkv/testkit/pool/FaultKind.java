package dev.tandemkv.testkit.pool;

/** What can go wrong with one call to a pool. */
public enum FaultKind {
    /** The call never reaches the pool and fails: its outcome is unknown to the caller, nothing happened. */
    ERROR,
    /** The pool refuses a selection or reserve for a reason of its own: overload. Nothing happened, and the caller knows. */
    REFUSAL,
    /** The call reaches the pool late, and its answer comes late as well. */
    DELAY,
    /** The call is carried out and fails: its outcome is unknown to the caller. */
    LOST_REPLY,
    /** The call is carried out and never answered. */
    NO_ANSWER,
    /** The call reaches the pool twice; the first answer counts. */
    DUPLICATE,
    /** The call is carried out and answered long after every bound has passed. */
    LATE_SUCCESS
}

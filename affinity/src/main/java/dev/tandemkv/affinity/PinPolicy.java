package dev.tandemkv.affinity;

/** What the session table does for a request that names its worker itself. No choice lets a pin destroy a binding unasked. */
public enum PinPolicy {
    /** The pin must agree with a live binding, and then refreshes it; without one nothing is bound. The default. */
    VALIDATE,
    /** The table is not looked at. */
    IGNORE_SESSION,
    /** The pinned worker becomes the session's binding. */
    BIND
}

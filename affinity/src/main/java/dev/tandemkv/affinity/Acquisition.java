package dev.tandemkv.affinity;

/** The answer to one attempt to take a session. */
public sealed interface Acquisition {

    /** The session is held now. */
    record Held(AffinityHold hold) implements Acquisition {}

    /** Another request makes the session's first dispatch; the caller stands in the queue. */
    record Waiting(AffinityWait turn) implements Acquisition {}

    /** A limit of the table was met; the request routes without its session. */
    record Unpinned(UnpinnedCause cause) implements Acquisition {}
}

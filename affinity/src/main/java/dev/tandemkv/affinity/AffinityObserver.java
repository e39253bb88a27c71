package dev.tandemkv.affinity;

/**
 * Told what a session table does, on the thread that did it, never under a lock. What an observer throws is logged and swallowed.
 * Session ids appear as {@linkplain SessionKeys#digest digests} only.
 */
public interface AffinityObserver {

    /** A request found its session bound. */
    default void onHit() {}

    /** A request makes the first dispatch of its session. */
    default void onInitialize() {}

    /** A request waits for another one's first dispatch. */
    default void onWait() {}

    /** A request routes without its session; a limit of the router, not a fault of the client. */
    default void onUnpinned(UnpinnedCause cause) {}

    /** A session moved to another worker. */
    default void onRebind() {}

    /** A binding ended because its worker is gone. */
    default void onInvalidated() {}

    /** A binding ended because nobody used it. */
    default void onExpired() {}

    /** A first dispatch took too long and the session was given to the next request. */
    default void onStolen() {}

    /** A hold or lease was forgotten, or is older than the limit; it has been ended. */
    default void onLeak(String sessionDigest, long ageNanos) {}

    default void onPublished() {}

    /** The sink took no record. */
    default void onPublishDropped() {}

    default void onReplicaApplied(ReplicaApplyOutcome outcome) {}

    /** Observes nothing. */
    static AffinityObserver none() {
        return new AffinityObserver() {};
    }
}

package dev.tandemkv.affinity;

/** When a session that was dispatched away from its bound worker is bound to the new one. */
public enum RebindMoment {
    /** As soon as the dispatch is committed. */
    ON_DISPATCH,
    /** When the new worker has produced something. The default. */
    ON_FIRST_TOKEN,
    /** Only when the response ended without error or cancellation. */
    ON_SUCCESS
}

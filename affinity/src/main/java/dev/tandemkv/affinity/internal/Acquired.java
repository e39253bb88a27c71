package dev.tandemkv.affinity.internal;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.AffinityVersion;

/** The answer to a request for a session. */
public sealed interface Acquired {

    /** The caller makes the first dispatch, under this generation. */
    record Initialize(long revision) implements Acquired {}

    /** The caller holds one lease of the binding. */
    record Use(AffinityTarget target, long revision, AffinityVersion version) implements Acquired {}

    /** The caller's explicit target disagrees with the binding; no lease was taken. */
    record Refused(AffinityTarget bound) implements Acquired {}

    /** Answers without facts. */
    enum Simple implements Acquired {
        /** The waiter was put in the queue. */
        WAITING,
        /** The queue of waiters is full. */
        TOO_MANY_WAITERS,
        /** The table is full, also after a sweep. */
        TABLE_FULL,
        /** The table is closed. */
        CLOSED
    }
}

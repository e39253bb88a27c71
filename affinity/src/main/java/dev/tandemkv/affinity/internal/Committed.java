package dev.tandemkv.affinity.internal;

import dev.tandemkv.affinity.AffinityTarget;

/** The answer to a commit. Only {@link Kept} changes anything: otherwise the caller still holds what it held. */
public sealed interface Committed {

    /** The caller has a lease of this use. */
    record Kept(Acquired.Use use) implements Committed {}

    /** A hard binding elsewhere; it stays. */
    record Mismatch(AffinityTarget bound) implements Committed {}

    /** The dispatched target is not the one the request itself asked for. */
    record ExplicitMismatch(AffinityTarget explicit) implements Committed {}

    enum Simple implements Committed {
        /** The session is no longer in the table. */
        GONE,
        /** Another request initializes or uses the session under a later generation. */
        CHANGED
    }
}

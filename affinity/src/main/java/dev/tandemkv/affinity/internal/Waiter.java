package dev.tandemkv.affinity.internal;

import dev.tandemkv.affinity.AffinityTarget;
import org.jspecify.annotations.Nullable;

/** A request that waits for a session's first dispatch. Compared by identity. */
public interface Waiter {

    /** The target that the request itself names. */
    @Nullable
    AffinityTarget explicitTarget();

    /** Called once, outside every lock, with {@link Acquired.Initialize}, {@link Acquired.Use} or {@link Acquired.Refused}. */
    void granted(Acquired grant);
}

package dev.tandemkv.selection.config;

import dev.tandemkv.affinity.AffinityConfig;
import dev.tandemkv.affinity.PinPolicy;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How sessions stick to workers.
 *
 * @param table limits and mode of the session tables; {@code null} turns session affinity off (the default)
 * @param pinPolicy what an explicit pin means for the session; default {@link PinPolicy#VALIDATE}
 * @param overloaded what a hard-bound request does while its worker is overloaded; default {@link Overloaded#WAIT}
 */
public record SessionConfig(@Nullable AffinityConfig table, PinPolicy pinPolicy, Overloaded overloaded) {

    /** What a hard-bound request does while its worker is overloaded. */
    public enum Overloaded {
        /** It waits if a queue is configured, else it ends {@code OVERLOADED}. */
        WAIT,
        /** Another worker serves it; the binding stays. */
        SPILL_KEEP_BINDING
    }

    public SessionConfig {
        Objects.requireNonNull(pinPolicy, "pinPolicy");
        Objects.requireNonNull(overloaded, "overloaded");
    }
}

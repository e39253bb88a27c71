package dev.tandemkv.selection.config;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How sessions stick to workers.
 *
 * @param ttl how long an idle binding lives, 1 s to 365 days; {@code null} turns session affinity off (the default)
 * @param mode whether a binding binds or advises; default {@link Mode#HARD}
 * @param pinPolicy what an explicit pin means for the session; default {@link PinPolicy#VALIDATE}
 * @param overloaded what a hard-bound request does while its worker is overloaded; default {@link Overloaded#WAIT}
 * @param rebind when a soft binding moves; default {@link Rebind#ON_FIRST_TOKEN}
 */
public record AffinityConfig(
        @Nullable Duration ttl, Mode mode, PinPolicy pinPolicy, Overloaded overloaded, Rebind rebind) {

    /** Whether a binding binds or advises. */
    public enum Mode {
        /** The bound worker, while it is eligible. */
        HARD,
        /** The policy sees the bound worker and may move the session. */
        SOFT
    }

    /** What an explicit pin means for the session. */
    public enum PinPolicy {
        /** It must agree with a live binding, and then refreshes it. */
        VALIDATE,
        /** The session is left alone. */
        IGNORE_SESSION,
        /** The pinned worker becomes the session's. */
        BIND
    }

    /** What a hard-bound request does while its worker is overloaded. */
    public enum Overloaded {
        /** It waits if a queue is configured, else it ends {@code OVERLOADED}. */
        WAIT,
        /** Another worker serves it; the binding stays. */
        SPILL_KEEP_BINDING
    }

    /** When a soft binding moves to the worker that served the request. */
    public enum Rebind {
        ON_DISPATCH,
        ON_FIRST_TOKEN,
        ON_SUCCESS
    }

    public AffinityConfig {
        if (ttl != null) {
            Check.that(
                    ttl.compareTo(Duration.ofSeconds(1)) >= 0 && ttl.compareTo(Duration.ofSeconds(31_536_000)) <= 0,
                    "session_affinity_ttl_secs",
                    ttl,
                    "1 to 31536000 s");
        }
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(pinPolicy, "pinPolicy");
        Objects.requireNonNull(overloaded, "overloaded");
        Objects.requireNonNull(rebind, "rebind");
    }
}

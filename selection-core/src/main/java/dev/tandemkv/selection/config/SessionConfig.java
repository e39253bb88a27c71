package dev.tandemkv.selection.config;

import dev.tandemkv.affinity.AffinityConfig;
import dev.tandemkv.affinity.PinPolicy;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How sessions stick to workers.
 *
 * @param sticky whether they do; default false
 * @param table limits and mode of the session tables. Where there are none it is kept for whoever sets a TTL later, and its own means nothing
 * @param pinPolicy what an explicit pin means for the session; default {@link PinPolicy#VALIDATE}
 * @param overloaded what a hard-bound request does while its worker is overloaded; default {@link Overloaded#WAIT}
 * @param loadMargin a session leaves a worker with more than this many blocks of booked load above the least loaded one; at least 0;
 *     {@code null} lets it stay however far ahead (the default), so that where it goes follows from where it was
 */
public record SessionConfig(
        boolean sticky,
        AffinityConfig table,
        PinPolicy pinPolicy,
        Overloaded overloaded,
        @Nullable Double loadMargin) {

    /** What a hard-bound request does while its worker is overloaded. */
    public enum Overloaded {
        /** It waits if a queue is configured, else it ends {@code OVERLOADED}. */
        WAIT,
        /** Another worker serves it; the binding stays. */
        SPILL_KEEP_BINDING
    }

    /** What is kept where nobody chose anything. */
    static final AffinityConfig NO_CHOICE =
            AffinityConfig.builder(AffinityConfig.MAX_TTL).build();

    public SessionConfig {
        Objects.requireNonNull(table, "table");
        Objects.requireNonNull(pinPolicy, "pinPolicy");
        Objects.requireNonNull(overloaded, "overloaded");
        Check.from0("session_load_margin", loadMargin);
    }

    /** The values on their way into such a record; they begin as the defaults. */
    static final class Draft {
        boolean sticky;
        final AffinityConfig.Builder table;
        PinPolicy pinPolicy = PinPolicy.VALIDATE;
        Overloaded overloaded = Overloaded.WAIT;

        @Nullable
        Double loadMargin;

        Draft() {
            table = NO_CHOICE.toBuilder();
        }

        Draft(SessionConfig c) {
            sticky = c.sticky();
            table = c.table().toBuilder();
            pinPolicy = c.pinPolicy();
            overloaded = c.overloaded();
            loadMargin = c.loadMargin();
        }

        void ttl(@Nullable Duration ttl) {
            sticky = ttl != null;
            table.ttl(ttl == null ? NO_CHOICE.ttl() : ttl);
        }

        SessionConfig build() {
            return new SessionConfig(sticky, table.build(), pinPolicy, overloaded, loadMargin);
        }
    }
}

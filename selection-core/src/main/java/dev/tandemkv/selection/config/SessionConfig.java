package dev.tandemkv.selection.config;

import dev.tandemkv.affinity.AffinityConfig;
import dev.tandemkv.affinity.AffinityMode;
import dev.tandemkv.affinity.PinPolicy;
import dev.tandemkv.affinity.RebindMoment;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How sessions stick to workers.
 *
 * @param table limits and mode of the session tables; {@code null} turns session affinity off (the default)
 * @param pinPolicy what an explicit pin means for the session; default {@link PinPolicy#VALIDATE}
 * @param overloaded what a hard-bound request does while its worker is overloaded; default {@link Overloaded#WAIT}
 * @param loadMargin a session leaves a worker with more than this many blocks of booked load above the least loaded one; at least 0;
 *     {@code null} lets it stay however far ahead (the default), so that where it goes follows from where it was
 */
public record SessionConfig(
        @Nullable AffinityConfig table,
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

    public SessionConfig {
        Objects.requireNonNull(pinPolicy, "pinPolicy");
        Objects.requireNonNull(overloaded, "overloaded");
        Check.from0("session_load_margin", loadMargin);
    }

    /** The values on their way into such a record; they begin as the defaults. */
    static final class Draft {
        @Nullable
        Duration ttl;

        AffinityMode mode = AffinityMode.HARD;
        PinPolicy pinPolicy = PinPolicy.VALIDATE;
        Overloaded overloaded = Overloaded.WAIT;
        RebindMoment rebind = RebindMoment.ON_FIRST_TOKEN;

        @Nullable
        Integer maxEntries;

        @Nullable
        Double loadMargin;

        Draft() {}

        Draft(SessionConfig c) {
            AffinityConfig from = c.table();
            if (from != null) {
                ttl = from.ttl();
                mode = from.mode();
                rebind = from.rebindMoment();
                maxEntries = from.maxEntries();
            }
            pinPolicy = c.pinPolicy();
            overloaded = c.overloaded();
            loadMargin = c.loadMargin();
        }

        SessionConfig build() {
            return new SessionConfig(ttl == null ? null : table(ttl), pinPolicy, overloaded, loadMargin);
        }

        private AffinityConfig table(Duration ttl) {
            AffinityConfig.Builder table =
                    AffinityConfig.builder(ttl).mode(mode).rebindMoment(rebind);
            if (maxEntries != null) {
                table.maxEntries(maxEntries);
            }
            return table.build();
        }
    }
}

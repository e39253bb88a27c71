package dev.tandemkv.testkit.sim;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * When the router learns what a cache has stored or lost.
 *
 * @param delay after it happened, or {@code null} for never
 */
public record EventDelivery(@Nullable Duration delay) {

    /** At once: the router's view is exact. */
    public static final EventDelivery IMMEDIATE = new EventDelivery(Duration.ZERO);

    /** Never: every event is lost. */
    public static final EventDelivery LOST = new EventDelivery(null);

    /** @throws IllegalArgumentException if the delay is negative */
    public EventDelivery {
        if (delay != null && delay.isNegative()) {
            throw new IllegalArgumentException("delay: " + delay + " (expected: >= 0)");
        }
    }

    public static EventDelivery after(Duration delay) {
        return new EventDelivery(delay);
    }
}

package dev.tandemkv.testkit.pool;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * How often each fault happens and how long the slow ones take. Immutable.
 *
 * @param shares share of calls by kind; their sum is at most 1
 * @param longestDelay upper end of {@link FaultKind#DELAY}, uniform from 0
 * @param lateness how late a {@link FaultKind#LATE_SUCCESS} is, at least; up to twice this
 */
public record FaultRates(Map<FaultKind, Double> shares, Duration longestDelay, Duration lateness) {

    /** No faults. */
    public static final FaultRates NONE = new FaultRates(Map.of(), Duration.ofSeconds(1), Duration.ofSeconds(20));

    /** @throws IllegalArgumentException if a share is negative or they sum to more than 1 */
    public FaultRates {
        shares = shares.isEmpty() ? Map.of() : Map.copyOf(new EnumMap<>(shares));
        double sum = 0;
        for (double share : shares.values()) {
            if (!(share >= 0)) {
                throw new IllegalArgumentException("share: " + share + " (expected: >= 0)");
            }
            sum += share;
        }
        if (sum > 1.0000001) {
            throw new IllegalArgumentException("shares: sum " + sum + " (expected: <= 1)");
        }
    }

    /** Every kind with the same share. */
    public static FaultRates each(double share) {
        Map<FaultKind, Double> shares = new EnumMap<>(FaultKind.class);
        for (FaultKind kind : FaultKind.values()) {
            shares.put(kind, share);
        }
        return new FaultRates(shares, NONE.longestDelay, NONE.lateness);
    }

    /** Draws the fault of one call, or none. */
    @Nullable
    FaultKind draw(RandomGenerator random) {
        double at = random.nextDouble();
        for (FaultKind kind : FaultKind.values()) {
            at -= shares.getOrDefault(kind, 0.0);
            if (at < 0) {
                return kind;
            }
        }
        return null;
    }
}

package dev.tandemkv.coordinator;

import java.time.Duration;
import java.util.Objects;

/**
 * How a release is brought to its end.
 *
 * @param attemptBound after which an unanswered try counts as failed
 * @param firstDelay wait after the first failed try; doubles with each further one
 * @param longestDelay cap of that wait
 * @param attempts failed tries after which it is reported as leaked
 */
public record FreeRetry(Duration attemptBound, Duration firstDelay, Duration longestDelay, int attempts) {

    /** 5 s for a try, then 100 ms doubling to 10 s, 12 tries: about 50 s of waiting. */
    public static final FreeRetry DEFAULT =
            new FreeRetry(Duration.ofSeconds(5), Duration.ofMillis(100), Duration.ofSeconds(10), 12);

    /** @throws IllegalArgumentException naming the field */
    public FreeRetry {
        requirePositive("attemptBound", attemptBound);
        requirePositive("firstDelay", firstDelay);
        requirePositive("longestDelay", longestDelay);
        if (attempts < 1) {
            throw new IllegalArgumentException("attempts: " + attempts + " (expected: >= 1)");
        }
    }

    private static void requirePositive(String name, Duration value) {
        Objects.requireNonNull(value, name);
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: positive)");
        }
    }

    /** The wait after a number of failed tries. */
    public Duration delayAfter(int failures) {
        Duration delay = firstDelay;
        for (int i = 1; i < failures && delay.compareTo(longestDelay) < 0; i++) {
            delay = delay.multipliedBy(2);
        }
        return delay.compareTo(longestDelay) < 0 ? delay : longestDelay;
    }
}

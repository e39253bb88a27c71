package dev.tandemkv.adapters.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what must happen, however long it takes within a generous bound. */
final class Eventually {

    static final Duration BOUND = Duration.ofSeconds(40);

    private Eventually() {}

    static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + BOUND.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited in vain: %s", what).isLessThan(deadline);
            LockSupport.parkNanos(1_000_000);
        }
    }
}

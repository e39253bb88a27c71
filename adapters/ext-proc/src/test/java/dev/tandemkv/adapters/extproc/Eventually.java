package dev.tandemkv.adapters.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what must happen, however long it takes within a generous bound. */
final class Eventually {

    private Eventually() {}

    static void holds(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited in vain: %s", what).isLessThan(deadline);
            LockSupport.parkNanos(2_000_000);
        }
    }
}

package dev.tandemkv.adapters.zmq;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what must happen, however long it takes within a generous bound. */
final class Eventually {

    private Eventually() {}

    static void await(BooleanSupplier condition) {
        await(Duration.ofSeconds(30), condition);
    }

    static void await(Duration bound, BooleanSupplier condition) {
        long deadline = System.nanoTime() + bound.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited in vain").isLessThan(deadline);
            LockSupport.parkNanos(2_000_000);
        }
    }
}

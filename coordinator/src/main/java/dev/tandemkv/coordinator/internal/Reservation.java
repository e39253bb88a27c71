package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.selection.Booking;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One try to book one leg, from the call to the confirmed release.
 *
 * <pre>
 * IN_FLIGHT --booked--> HELD --free--> FREEING --confirmed--> SETTLED
 *     |  \--outcome unknown, given up-----^                      ^
 *     \--known to have booked nothing---------------------------/
 * </pre>
 *
 * Not thread-safe by itself: every field is guarded by the lock of the plan it belongs to.
 */
final class Reservation {

    enum Phase {
        IN_FLIGHT,
        HELD,
        FREEING,
        SETTLED
    }

    final Leg leg;
    final String selectionId;
    final long startedTick;
    final CompletableFuture<Booking> result = new CompletableFuture<>();
    Phase phase = Phase.IN_FLIGHT;

    @Nullable
    Booking booking;

    @Nullable
    FreeTask free;

    Scheduler.@Nullable Task bound;

    Reservation(Leg leg, String selectionId, long startedTick) {
        this.leg = leg;
        this.selectionId = selectionId;
        this.startedTick = startedTick;
    }

    /** Whether the pool may hold something here. */
    boolean isOpen() {
        return phase != Phase.SETTLED;
    }

    boolean isHeld() {
        return phase == Phase.HELD || (phase == Phase.FREEING && booking != null);
    }
}

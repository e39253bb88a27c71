package dev.tandemkv.selection.internal.reservation;

import dev.tandemkv.selection.Booking;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.function.Consumer;

/**
 * Finds booking handles that were collected without having been closed. The handle knows its reservation, the reservation knows only this
 * watch, so a handle that the application drops can be collected while its booking is live. Nothing runs by itself: {@link #sweep} is
 * called from the core's scheduler.
 *
 * <p>Thread-safe.
 */
public final class LostHandles {

    /**
     * Outlives the handle it watches. Only its reservation keeps it alive: once that lets go of it, at the end of the booking, the collector
     * has no watch to report, and nothing has to be cleared.
     */
    static final class Watch extends PhantomReference<Booking> {
        private final Reservation reservation;

        Watch(Booking handle, ReferenceQueue<Booking> queue, Reservation reservation) {
            super(handle, queue);
            this.reservation = reservation;
        }
    }

    private final ReferenceQueue<Booking> lost = new ReferenceQueue<>();

    public void watch(Booking handle, Reservation reservation) {
        reservation.watchedBy(new Watch(handle, lost, reservation));
    }

    /** Tells every reservation whose handle was lost since the last call, once. */
    public void sweep(Consumer<Reservation> onLost) {
        for (Reference<? extends Booking> next = lost.poll(); next != null; next = lost.poll()) {
            if (next instanceof Watch watch && watch.reservation.isWatchedBy(watch)) {
                onLost.accept(watch.reservation);
            }
        }
    }
}

package dev.tandemkv.selection.host;

import dev.tandemkv.selection.BookingId;

/** Told how bookings come and go, for a host that keeps leases of its own. Called outside the partition step, in order for one booking. */
public interface LeaseObserver {

    default void admitted(BookingId booking) {}

    default void progressed(BookingId booking) {}

    default void completed(BookingId booking) {}
}

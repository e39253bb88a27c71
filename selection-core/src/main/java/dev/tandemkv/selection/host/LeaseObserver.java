package dev.tandemkv.selection.host;

import dev.tandemkv.selection.BookingId;

/**
 * Told how bookings come and go, for a host that keeps leases of its own. Called outside the partition step. Of one booking {@link #admitted}
 * is told first and {@link #completed} once; progress that one thread makes while another ends the booking may be told after its end.
 * A later booking under the same selection id, which is another {@link BookingId}, may be told of before the end of the earlier one.
 */
public interface LeaseObserver {

    default void admitted(BookingId booking) {}

    default void progressed(BookingId booking) {}

    default void completed(BookingId booking) {}
}

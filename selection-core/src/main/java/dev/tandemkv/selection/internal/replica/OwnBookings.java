package dev.tandemkv.selection.internal.replica;

import dev.tandemkv.selection.internal.reservation.Reservation;

/** What a peer may do, by id, to a booking of this core. Called outside every lock; the booking may be over by then. */
public interface OwnBookings {

    void free(Reservation row);

    /** Ends its prefill load; what changes nothing is not told on. */
    void prefillComplete(Reservation row);

    void touch(Reservation row);
}

package dev.tandemkv.selection.internal.run;

import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.internal.ledger.Ownership;
import dev.tandemkv.selection.internal.reservation.Reservation;
import org.jspecify.annotations.Nullable;

/** What a request's caller gets, and who then answers for the booking. */
interface Delivery<T> {

    Ownership ownership();

    /** What a claim becomes when it is installed. */
    Reservation.Stage stage();

    /** @param row the reservation, or {@code null} where nothing was booked */
    T of(Engine engine, @Nullable Reservation row, Selection selection);

    /** The decision alone; nothing is booked. */
    Delivery<Selection> DECISION = new ById();

    /** The decision; the booking is owned by whoever knows its id. */
    Delivery<Selection> BY_ID = new ById();

    /** A handle, which owns the booking. */
    Delivery<Booking> HANDLE = new ByHandle(Reservation.Stage.LIVE);

    /** A handle; lifecycle calls by id do not find the booking. */
    Delivery<Booking> LEASE = new ByHandle(Reservation.Stage.LEASED);

    /** See {@link #BY_ID}. */
    final class ById implements Delivery<Selection> {
        private ById() {}

        @Override
        public Ownership ownership() {
            return Ownership.EXTERNAL;
        }

        @Override
        public Reservation.Stage stage() {
            return Reservation.Stage.LIVE;
        }

        @Override
        public Selection of(Engine engine, @Nullable Reservation row, Selection selection) {
            return selection;
        }
    }

    /** See {@link #HANDLE}. */
    final class ByHandle implements Delivery<Booking> {
        private final Reservation.Stage stage;

        private ByHandle(Reservation.Stage stage) {
            this.stage = stage;
        }

        @Override
        public Ownership ownership() {
            return Ownership.HANDLE;
        }

        @Override
        public Reservation.Stage stage() {
            return stage;
        }

        @Override
        public Booking of(Engine engine, @Nullable Reservation row, Selection selection) {
            if (row == null) {
                throw new IllegalArgumentException("a handle needs a booking");
            }
            BookingHandle handle = new BookingHandle(engine.lifecycle(), row, selection);
            engine.lostHandles().watch(handle, row);
            return handle;
        }
    }
}

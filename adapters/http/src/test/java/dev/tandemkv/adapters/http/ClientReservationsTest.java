package dev.tandemkv.adapters.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.http.internal.server.Admission;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.BookingId;
import org.junit.jupiter.api.Test;

/** An id is free before its booking's end is told, so the next booking under it may be told of first. */
class ClientReservationsTest {

    private static final BookingId FIRST = booking(1);
    private static final BookingId SECOND = booking(2);

    private final ClientReservations counted = new ClientReservations();
    private final Admission admission = counted.upTo(10);

    @Test
    void booking_isCountedUntilItsEnd() {
        made(FIRST);
        assertThat(counted.count("c")).isEqualTo(1);
        counted.completed(FIRST);
        assertThat(counted.count("c")).isZero();
    }

    @Test
    void idTakenAgain_beforeTheEndIsTold_isCountedOnce() {
        made(FIRST);
        made(SECOND);
        assertThat(counted.count("c")).isEqualTo(1);
        counted.completed(FIRST);
        assertThat(counted.count("c")).isEqualTo(1);
        counted.completed(SECOND);
        assertThat(counted.count("c")).isZero();
    }

    @Test
    void idTakenAgain_beforeItsFirstBookingIsToldAtAll_isCountedOnce() {
        made(SECOND);
        counted.admitted(FIRST);
        counted.completed(FIRST);
        assertThat(counted.count("c")).isEqualTo(1);
        counted.completed(SECOND);
        assertThat(counted.count("c")).isZero();
    }

    private void made(BookingId booking) {
        assertThat(admission.enter("c")).isTrue();
        counted.admitted(booking);
        admission.booked("c", booking.selectionId());
    }

    private static BookingId booking(long attempt) {
        return new BookingId("r", WorkerRank.of(1), attempt);
    }
}

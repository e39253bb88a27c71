package dev.tandemkv.adapters.http;

import dev.tandemkv.adapters.http.internal.server.Admission;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.host.LeaseObserver;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts the live bookings that each client of a selection service made, so that one client cannot fill the books. The core tells it how
 * bookings come and go; give one object to both:
 *
 * <pre>{@code
 * ClientReservations reservations = new ClientReservations();
 * SelectionCore core = SelectionCore.builder()
 *     .host(SelectionHost.builder().leaseObserver(reservations).build())
 *     ...
 * SelectionService service = SelectionService.builder(core, scheduler).reservations(reservations) ...
 * }</pre>
 *
 * <p>Thread-safe. Its size is bounded by the live bookings. A client's count rises when it asks and falls when its request fails or its
 * booking ends, for whatever reason.
 */
public final class ClientReservations implements LeaseObserver {

    /** Stands for the client of a booking that nobody asked for here, or whose asker is not known yet. */
    private static final String NOBODY = "";

    private final ConcurrentMap<String, Integer> counts = new ConcurrentHashMap<>();
    /** By id. An id is free before its booking's end is told, so the next booking under it may be told of first. */
    private final ConcurrentMap<String, Live> live = new ConcurrentHashMap<>();

    /** @param client who asked for it, or {@link #NOBODY} */
    private record Live(long attempt, String client) {}

    /** Counts from nothing. */
    public ClientReservations() {}

    @Override
    public void admitted(BookingId booking) {
        live.compute(booking.selectionId(), (id, present) -> {
            if (present != null && present.attempt() > booking.attemptId()) {
                return present;
            }
            over(present);
            return new Live(booking.attemptId(), NOBODY);
        });
    }

    @Override
    public void completed(BookingId booking) {
        live.computeIfPresent(booking.selectionId(), (id, present) -> {
            if (present.attempt() != booking.attemptId()) {
                return present;
            }
            over(present);
            return null;
        });
    }

    private void over(@Nullable Live booking) {
        if (booking != null && !booking.client().equals(NOBODY)) {
            leave(booking.client());
        }
    }

    /** Lets each client have so many. */
    Admission upTo(int limit) {
        return new Admission() {
            @Override
            public boolean enter(String client) {
                return ClientReservations.this.enter(client, limit);
            }

            @Override
            public void booked(String client, String selectionId) {
                // It may even be over by now.
                boolean[] kept = new boolean[1];
                live.computeIfPresent(selectionId, (id, present) -> {
                    kept[0] = present.client().equals(NOBODY);
                    return kept[0] ? new Live(present.attempt(), client) : present;
                });
                if (!kept[0]) {
                    ClientReservations.this.leave(client);
                }
            }

            @Override
            public void leave(String client) {
                ClientReservations.this.leave(client);
            }

            @Override
            public int limit() {
                return limit;
            }
        };
    }

    private boolean enter(String client, int limit) {
        boolean[] entered = new boolean[1];
        counts.compute(client, (c, count) -> {
            int before = count == null ? 0 : count;
            entered[0] = before < limit;
            return entered[0] ? Integer.valueOf(before + 1) : count;
        });
        return entered[0];
    }

    private void leave(String client) {
        counts.computeIfPresent(client, (c, count) -> count > 1 ? count - 1 : null);
    }

    /** Bookings, and requests that may become some, of one client. */
    public int count(String client) {
        return counts.getOrDefault(client, 0);
    }
}

package dev.tandemkv.adapters.http;

import dev.tandemkv.adapters.http.internal.server.Admission;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.host.LeaseObserver;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

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
    private final ConcurrentMap<String, String> clientOfLiveId = new ConcurrentHashMap<>();

    /** Counts from nothing. */
    public ClientReservations() {}

    @Override
    public void admitted(BookingId booking) {
        clientOfLiveId.put(booking.selectionId(), NOBODY);
    }

    @Override
    public void completed(BookingId booking) {
        String client = clientOfLiveId.remove(booking.selectionId());
        if (client != null && !client.equals(NOBODY)) {
            leave(client);
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
                if (!clientOfLiveId.replace(selectionId, NOBODY, client)) {
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

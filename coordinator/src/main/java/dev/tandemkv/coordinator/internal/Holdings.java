package dev.tandemkv.coordinator.internal;

import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Selection;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What one plan holds or may hold: its reservations that are not settled, and under which ids it may book further. Not thread-safe:
 * guarded by the lock of its plan.
 */
final class Holdings {

    private final String planId;
    private final List<Reservation> open = new ArrayList<>(2);
    private final Map<Leg, Selection> selections = new EnumMap<>(Leg.class);
    private final Map<Leg, Integer> retiredIds = new EnumMap<>(Leg.class);

    Holdings(String planId) {
        this.planId = planId;
    }

    void add(Reservation reservation) {
        open.add(reservation);
    }

    void remove(Reservation reservation) {
        open.remove(reservation);
    }

    boolean isEmpty() {
        return open.isEmpty();
    }

    boolean isClear(Leg leg) {
        return open.stream().noneMatch(r -> r.leg == leg);
    }

    List<Reservation> all() {
        return List.copyOf(open);
    }

    /** The booked reservation of a leg, also while it is being freed. */
    @Nullable
    Reservation held(Leg leg) {
        for (Reservation r : open) {
            if (r.leg == leg && r.isHeld()) {
                return r;
            }
        }
        return null;
    }

    /** The reservation that a release belongs to, or {@code null} if it is settled. */
    @Nullable
    Reservation of(FreeTask task) {
        for (Reservation r : open) {
            if (r.free == task) {
                return r;
            }
        }
        return null;
    }

    /** A booking whose lease must be renewed. */
    record Leased(Leg leg, Booking booking) {}

    /** What is booked and not being freed. */
    List<Leased> leased() {
        return open.stream()
                .filter(r -> r.phase == Reservation.Phase.HELD)
                .map(r -> new Leased(r.leg, Objects.requireNonNull(r.booking)))
                .toList();
    }

    List<FreeTask> frees() {
        List<FreeTask> tasks = new ArrayList<>(open.size());
        for (Reservation r : open) {
            if (r.free != null) {
                tasks.add(r.free);
            }
        }
        return tasks;
    }

    void booked(Reservation reservation, Booking booking) {
        reservation.phase = Reservation.Phase.HELD;
        reservation.booking = booking;
        selections.put(reservation.leg, booking.selection());
    }

    /** The decision last booked for a leg; stays after the booking is gone. */
    @Nullable
    Selection selection(Leg leg) {
        return selections.get(leg);
    }

    /** The id of the next try to book a leg. */
    String selectionId(Leg leg) {
        int retired = retiredIds.getOrDefault(leg, 0);
        return retired == 0 ? leg.selectionId(planId) : leg.selectionId(planId) + '/' + (retired + 1);
    }

    /** The id last used for a leg is not used again. */
    void retireSelectionId(Leg leg) {
        retiredIds.merge(leg, 1, Integer::sum);
    }
}

package dev.tandemkv.selection.internal.reservation;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.internal.partition.Partition;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Which selection ids are taken in the whole core, and by what. Thread-safe; a row enters by {@link #enter} before anything is booked and
 * leaves by {@link #forget} once nothing is.
 */
public final class ReservationIndex {

    private final ConcurrentMap<String, Reservation> rows = new ConcurrentHashMap<>();
    private final AtomicLong attempts = new AtomicLong();

    /**
     * A claim that is not entered yet, so that whoever makes it knows it before anybody who finds it.
     *
     * @param becomes what the claim is once it is installed
     * @param withdrawal stops the reserve, if its id is freed on its way
     */
    public Reservation draft(String selectionId, Partition partition, Reservation.Stage becomes, Runnable withdrawal) {
        return new Reservation(selectionId, partition, attempts.incrementAndGet(), becomes, withdrawal, null);
    }

    /**
     * Takes the id of a claim.
     *
     * @throws ConflictException if the id is live or on its way, in whatever partition
     */
    public void enter(Reservation claim) {
        Reservation present = rows.putIfAbsent(claim.selectionId(), claim);
        if (present != null) {
            throw new ConflictException(
                    "selection id",
                    claim.selectionId(),
                    "live or in flight in " + present.partition().key());
        }
    }

    /** A row for a peer's booking, not entered yet. */
    public Reservation foreign(
            String selectionId, Partition partition, Reservation.Foreign foreign, Reservation.Stage becomes) {
        return new Reservation(selectionId, partition, attempts.incrementAndGet(), becomes, null, foreign);
    }

    /** Enters an installed row in the place of another, or of none; false if a third one has taken that place. */
    public boolean place(Reservation row, @Nullable Reservation replaced) {
        return replaced == null
                ? rows.putIfAbsent(row.selectionId(), row) == null
                : rows.replace(row.selectionId(), replaced, row);
    }

    public @Nullable Reservation find(String selectionId) {
        return rows.get(selectionId);
    }

    /** Drops exactly this row; a later one under its id stays. */
    public void forget(Reservation reservation) {
        rows.remove(reservation.selectionId(), reservation);
    }

    /** The row whose booking, or attempt, this is; {@code null} if the id is unknown or another attempt's. */
    public @Nullable Reservation find(BookingId id) {
        Reservation row = rows.get(id.selectionId());
        return row != null && row.attemptId() == id.attemptId() ? row : null;
    }

    /**
     * The booking of this row ended without its owner.
     *
     * @return whether it had been handed out; if not, whoever makes it learns of it and forgets the row
     */
    public boolean lost(Reservation reservation) {
        boolean handedOut = reservation.lost();
        if (handedOut) {
            forget(reservation);
        }
        return handedOut;
    }

    public int size() {
        return rows.size();
    }

    /** All rows, as a copy. */
    public List<Reservation> all() {
        return List.copyOf(rows.values());
    }
}

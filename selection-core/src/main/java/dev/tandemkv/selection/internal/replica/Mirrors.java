package dev.tandemkv.selection.internal.replica;

import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.EndReason;
import dev.tandemkv.selection.internal.ledger.BookingTerms;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.Ownership;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.replica.BookingEvent.Add;
import dev.tandemkv.selection.internal.replica.BookingEvent.Word;
import dev.tandemkv.selection.internal.reservation.Reservation;
import dev.tandemkv.selection.internal.reservation.Reservation.Foreign;
import dev.tandemkv.selection.internal.reservation.Reservation.Knowledge;
import dev.tandemkv.selection.internal.reservation.Reservation.Stage;
import dev.tandemkv.selection.internal.reservation.ReservationIndex;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The bookings of peers as they are counted here. A mirror counts as load and can be addressed by id; it never displaces a live booking of
 * this core, and ends by its owner's word or its own timeout.
 *
 * <p>Everything is called inside the step of the partition concerned, except {@link #remember}, which any thread may call. A mirror's row
 * enters the index when its booking is in the ledger, so that whoever finds the row can act on it; only steps enter and replace mirrors,
 * but claims of this core come and go meanwhile.
 */
final class Mirrors {

    private final long origin;
    private final ReservationIndex reservations;
    private final EndedBookings ended;
    private final ReplicaCounters counters;
    private final Outbound out;
    private final OwnBookings own;
    private final BooleanSupplier closed;

    Mirrors(
            Outbound out,
            ReservationIndex reservations,
            EndedBookings ended,
            ReplicaCounters counters,
            OwnBookings own,
            BooleanSupplier closed) {
        this.out = out;
        this.reservations = reservations;
        this.ended = ended;
        this.counters = counters;
        this.own = own;
        this.closed = closed;
        origin = out.origin();
    }

    /**
     * Applies one message.
     *
     * @return whether load went, so that waiting requests are worth a look
     */
    boolean apply(Partition in, BookingEvent event) {
        if (event.change() instanceof Add add) {
            addCounted(in, event, add);
            return false;
        }
        Word word = (Word) event.change();
        boolean changed = progress(in, event.key(), word);
        (changed ? counters.applied : counters.ignored).increment();
        return changed && word != Word.PROGRESS;
    }

    // ---- beginnings

    private void addCounted(Partition in, BookingEvent event, Add add) {
        EndedBookings.End end = ended.of(event.key(), in.core().ticker().read());
        if (end == EndedBookings.End.BOOKING || event.key().owner() == origin || closed.getAsBoolean()) {
            counters.ignored.increment();
        } else if (!in.mirrors(event.worker(), add.incarnation())) {
            counters.unknown.increment();
        } else {
            boolean prefilled = end == EndedBookings.End.PREFILL;
            (add(in, event, add, prefilled) ? counters.applied : counters.ignored).increment();
        }
    }

    private boolean add(Partition in, BookingEvent event, Add add, boolean prefilled) {
        BookingKey key = event.key();
        Foreign foreign = new Foreign(key.owner(), key.attempt());
        while (true) {
            Reservation present = reservations.find(key.requestId());
            if (present != null && foreign.equals(present.foreign())) {
                return present.partition() == in && toldAgain(in, present.booking(), add, prefilled);
            }
            if (present != null && !yields(in, present, key)) {
                return false;
            }
            dropFormer(in, key.requestId());
            Reservation mirror =
                    reservations.foreign(key.requestId(), in, foreign, add.hostOnly() ? Stage.LEASED : Stage.LIVE);
            BookingTerms terms = new BookingTerms(
                    new BookingId(key.requestId(), event.worker(), mirror.attemptId()),
                    prefilled ? PrefillHint.NONE : add.prefill(),
                    add.expectedOutputTokens(),
                    event.loraName(),
                    Ownership.REPLICA);
            LedgerEntry entry = in.bookOn(event.worker(), terms, add.tokenSequence());
            mirror.install(entry, null, Knowledge.NONE);
            if (reservations.place(mirror, present)) {
                return true;
            }
            // The claim that was to be replaced was given up, and the id may be claimed anew.
            in.release(entry);
        }
    }

    /** Its owner tells a booking again: a sign of life, and perhaps of a prefill that it did not carry before. */
    private static boolean toldAgain(Partition in, LedgerEntry entry, Add add, boolean prefilled) {
        in.touch(entry);
        return !prefilled && !entry.wasCharged() && in.chargePrefill(entry, add.prefill());
    }

    /** Whether the row under an id makes room for a peer's booking. */
    private static boolean yields(Partition in, Reservation present, BookingKey key) {
        if (present.partition() != in) {
            return false;
        }
        Foreign foreign = present.foreign();
        if (foreign == null) {
            LedgerEntry entry = present.entry();
            return present.replace() || (entry != null && !entry.live());
        }
        return foreign.owner() != key.owner() || Long.compareUnsigned(foreign.attempt(), key.attempt()) < 0;
    }

    /** Frees what the replaced row, a mirror or a claim on its way, had booked. */
    private static void dropFormer(Partition in, String id) {
        LedgerEntry former = in.bookingUnder(id);
        if (former != null) {
            in.release(former);
            if (former.ownership() != Ownership.REPLICA) {
                in.mailbox().afterwards(() -> in.core().rolledBack(in.key(), former.id()));
            }
        }
    }

    // ---- what comes after

    private boolean progress(Partition in, BookingKey key, Word word) {
        Reservation row = reservations.find(key.requestId());
        LedgerEntry entry = row == null ? null : row.entry();
        boolean found = row != null
                && entry != null
                && row.partition() == in
                && out.keyOf(row, entry.id()).equals(key);
        remember(key, word, in.core().ticker().read());
        if (row == null || entry == null || !found) {
            return false;
        }
        return row.foreign() == null ? onOwn(in, row, word) : onMirror(in, row, entry, word);
    }

    private boolean onOwn(Partition in, Reservation row, Word word) {
        if (row.stage() != Stage.LIVE) {
            return false;
        }
        in.mailbox().afterwards(() -> {
            switch (word) {
                case FREE -> own.free(row);
                case PREFILL_COMPLETED -> own.prefillComplete(row);
                default -> own.touch(row);
            }
        });
        return true;
    }

    private boolean onMirror(Partition in, Reservation row, LedgerEntry entry, Word word) {
        return switch (word) {
            case FREE -> {
                reservations.forget(row);
                in.mailbox().afterwards(() -> {
                    row.end(EndReason.FREED);
                    row.tellEnded(EndReason.FREED);
                });
                yield in.release(entry);
            }
            case PREFILL_COMPLETED -> in.endPrefill(entry);
            default -> in.touch(entry);
        };
    }

    /** Notes how far a booking came, because its beginning may arrive later. */
    void remember(BookingKey key, Word word, long now) {
        if (key.owner() == origin) {
            return;
        }
        if (word == Word.FREE) {
            ended.note(key, EndedBookings.End.BOOKING, now);
        } else if (word == Word.PREFILL_COMPLETED) {
            ended.note(key, EndedBookings.End.PREFILL, now);
        }
    }

    // ---- the end of the core

    /** Lets go of every mirror in a partition: nothing would end them by time any more. */
    void dropAll(Partition in) {
        for (LedgerEntry entry : in.bookings(booking -> booking.ownership() == Ownership.REPLICA)) {
            Reservation row = reservations.find(entry.id());
            in.release(entry);
            if (row != null) {
                reservations.forget(row);
            }
        }
    }

    /** The row of a booking that this core handed out and that is live, or {@code null}. */
    @Nullable
    Reservation handedOut(LedgerEntry entry) {
        Reservation row = reservations.find(entry.id());
        boolean out = row != null && (row.stage() == Stage.LIVE || row.stage() == Stage.LEASED);
        return out && entry.live() ? row : null;
    }
}

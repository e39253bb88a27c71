package dev.tandemkv.selection.internal.replica;

import dev.tandemkv.affinity.AffinityReplicaApplier;
import dev.tandemkv.affinity.AffinityReplicaRecord;
import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.ReplicaApplyOutcome;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.EndReason;
import dev.tandemkv.selection.internal.ledger.BookingTerms;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.Ownership;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.replica.BookingEvent.Add;
import dev.tandemkv.selection.internal.replica.BookingEvent.Ask;
import dev.tandemkv.selection.internal.replica.BookingEvent.Free;
import dev.tandemkv.selection.internal.reservation.Reservation;
import dev.tandemkv.selection.internal.reservation.Reservation.Foreign;
import dev.tandemkv.selection.internal.reservation.Reservation.Knowledge;
import dev.tandemkv.selection.internal.reservation.Reservation.Stage;
import dev.tandemkv.selection.internal.reservation.ReservationIndex;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Applies what peers tell, each message in the step of its partition. A mirrored booking counts as load and can be addressed by id; it
 * never displaces a live booking of this core, and ends by its owner's word or its own timeout. Thread-safe.
 */
public final class Inbound {

    private static final int MOST_ANSWERS = 4_096;

    private final Outbound out;
    private final Function<PartitionKey, @Nullable Partition> partitions;
    private final ReservationIndex reservations;
    private final OwnBookings own;
    private final BooleanSupplier closed;

    /** What a peer may do, by id, to a booking of this core. Called outside every lock. */
    public interface OwnBookings {
        void free(Reservation row);

        void prefillComplete(Reservation row);
    }

    public Inbound(
            Outbound out,
            Function<PartitionKey, @Nullable Partition> partitions,
            ReservationIndex reservations,
            OwnBookings own,
            BooleanSupplier closed) {
        this.out = out;
        this.partitions = partitions;
        this.reservations = reservations;
        this.own = own;
        this.closed = closed;
    }

    /** Begins to take messages. */
    public void start() {
        out.listen(this::booking, this::session);
    }

    // ---- messages

    private void booking(byte[] payload) {
        BookingEvent event = read(payload, BookingEvent::fromFields);
        if (event == null) {
            return;
        }
        if (event.origin() == out.origin()) {
            out.counters().self.increment();
            return;
        }
        Partition in = partitions.apply(event.partition());
        if (in == null || in.blockSize() != event.blockSize()) {
            out.counters().unknown.increment();
        } else if (event.change() instanceof Ask) {
            answer(in, event.worker().workerId());
        } else {
            in.mailbox().submit(() -> apply(in, event));
        }
    }

    private void session(byte[] payload) {
        AffinityReplicaRecord binding = read(payload, AffinityReplicaRecord::fromFields);
        if (binding == null) {
            return;
        }
        Partition in = partitions.apply(binding.partition());
        if (in == null || in.sessions() == null) {
            out.counters().unknown.increment();
            return;
        }
        ReplicaApplyOutcome outcome = new AffinityReplicaApplier(in.sessions(), in::isLive).apply(binding);
        if (outcome == ReplicaApplyOutcome.IGNORED_SELF) {
            out.counters().self.increment();
        } else if (outcome == ReplicaApplyOutcome.IGNORED_TARGET) {
            out.counters().unknown.increment();
        }
    }

    private <T> @Nullable T read(byte[] payload, Function<Map<String, @Nullable Object>, T> reader) {
        if (closed.getAsBoolean()) {
            return null;
        }
        try {
            return reader.apply(out.codec().decode(payload));
        } catch (IOException | SelectionException | IllegalArgumentException e) {
            out.counters().malformed.increment();
            return null;
        }
    }

    // ---- inside the step

    private void apply(Partition in, BookingEvent event) {
        boolean changed = event.change() instanceof Add add ? add(in, event, add) : progress(in, event);
        (changed ? out.counters().applied : out.counters().ignored).increment();
    }

    private boolean add(Partition in, BookingEvent event, Add add) {
        BookingKey key = event.key();
        EndedBookings.End end = out.ended().of(key, in.core().ticker().read());
        if (end == EndedBookings.End.BOOKING || key.owner() == out.origin()) {
            return false;
        }
        if (!in.isRegistered(event.worker())) {
            out.counters().unknown.increment();
            return false;
        }
        Reservation present = reservations.find(key.requestId());
        if (present != null && !yields(in, present, key)) {
            return false;
        }
        Reservation mirror = reservations.mirror(key.requestId(), in, new Foreign(key.owner(), key.attempt()), present);
        if (mirror == null) {
            return false;
        }
        dropFormer(in, key.requestId());
        PrefillHint prefill = end == EndedBookings.End.PREFILL ? PrefillHint.NONE : add.prefill();
        BookingTerms terms = new BookingTerms(
                new BookingId(key.requestId(), event.worker(), mirror.attemptId()),
                prefill,
                add.expectedOutputTokens(),
                event.loraName(),
                Ownership.REPLICA);
        mirror.install(in.bookOn(event.worker(), terms, add.tokenSequence()), null, Knowledge.NONE);
        return true;
    }

    /** Whether the row under an id makes room for a peer's booking. */
    private boolean yields(Partition in, Reservation present, BookingKey key) {
        if (present.partition() != in) {
            return false;
        }
        Foreign foreign = present.foreign();
        LedgerEntry entry = present.entry();
        if (foreign == null || entry == null) {
            return present.replace() || (entry != null && !entry.live());
        }
        if (foreign.owner() != key.owner()) {
            return true;
        }
        if (foreign.attempt() == key.attempt()) {
            // Told again, on somebody's request: a sign of life.
            in.touch(entry);
        }
        return Long.compareUnsigned(foreign.attempt(), key.attempt()) < 0;
    }

    /** Frees what the replaced row, a mirror or a claim on its way, had booked. */
    private static void dropFormer(Partition in, String id) {
        LedgerEntry former = in.bookingUnder(id);
        if (former != null) {
            in.free(former);
            if (former.ownership() != Ownership.REPLICA) {
                in.mailbox().afterwards(() -> in.core().ended(in.key(), former.id(), EndReason.ROLLED_BACK));
            }
        }
    }

    /** The end of a prefill or of a booking. */
    private boolean progress(Partition in, BookingEvent event) {
        BookingKey key = event.key();
        boolean freed = event.change() instanceof Free;
        Reservation row = reservations.find(key.requestId());
        LedgerEntry entry = row == null ? null : row.entry();
        boolean found = row != null
                && entry != null
                && row.partition() == in
                && row.stage() == Stage.LIVE
                && out.keyOf(row, entry.id()).equals(key);
        if (row == null || entry == null || !found) {
            remember(in, key, freed);
            return false;
        }
        if (row.foreign() == null) {
            in.mailbox().afterwards(() -> {
                if (freed) {
                    own.free(row);
                } else {
                    own.prefillComplete(row);
                }
            });
            return true;
        }
        remember(in, key, freed);
        if (freed) {
            reservations.forget(row);
            in.free(entry);
            in.mailbox().afterwards(() -> {
                row.end(EndReason.FREED);
                row.tellEnded(EndReason.FREED);
            });
        } else {
            in.markPrefill(entry);
        }
        return true;
    }

    private void remember(Partition in, BookingKey key, boolean freed) {
        if (key.owner() != out.origin()) {
            out.ended()
                    .note(
                            key,
                            freed ? EndedBookings.End.BOOKING : EndedBookings.End.PREFILL,
                            in.core().ticker().read());
        }
    }

    // ---- snapshot

    /** Tells again what this core has booked on a worker, and which sessions stick to it. */
    private void answer(Partition in, long workerId) {
        in.mailbox().submit(() -> {
            List<BookingEvent> answers = new ArrayList<>();
            for (LedgerEntry entry : in.bookingsOf(workerId)) {
                Reservation row = reservations.find(entry.id());
                boolean handedOut = row != null && (row.stage() == Stage.LIVE || row.stage() == Stage.LEASED);
                if (handedOut && entry.ownership() != Ownership.REPLICA && answers.size() < MOST_ANSWERS) {
                    answers.add(out.addOf(in, entry, in.hashesOf(entry), entry.charged()));
                }
            }
            in.mailbox().afterwards(() -> {
                answers.forEach(out::publish);
                tellSessions(in, workerId);
            });
        });
    }

    private void tellSessions(Partition in, long workerId) {
        if (in.sessions() != null) {
            for (AffinityReplicaRecord binding : in.sessions().snapshot(MOST_ANSWERS)) {
                AffinityTarget target = binding.target();
                if (target != null && target.workerId() == workerId) {
                    out.announce(binding);
                }
            }
        }
    }
}

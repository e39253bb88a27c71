package dev.tandemkv.selection.internal.replica;

import dev.tandemkv.affinity.AffinityReminder;
import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.Ownership;
import dev.tandemkv.selection.internal.partition.CoreContext;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.replica.BookingEvent.Word;
import dev.tandemkv.selection.internal.reservation.Reservation;
import dev.tandemkv.selection.internal.reservation.Reservation.Stage;
import dev.tandemkv.selection.internal.reservation.ReservationIndex;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells again what is booked and bound here: to a peer that asks, to one that has just begun to listen, and from time to time so that
 * mirrors of long bookings outlive the orphan timeout. Thread-safe.
 */
final class Retelling {

    private static final Logger LOG = LoggerFactory.getLogger(Retelling.class);

    /** Workers whose asks are collected in one partition; others are answered by themselves. */
    private static final int MOST_ASKED = 16_384;

    private static final int BOOKINGS_PER_STEP = 64;
    /** Told in one go, on whichever thread leaves the step: it may be a request's. */
    private static final int BOOKINGS_AT_ONCE = 256;

    private static final int SESSIONS_AT_ONCE = 1_024;
    private static final Duration PACE = Duration.ofMillis(10);
    /** How often in a row the channel may refuse before the rest is left to the next time: a second, at that pace. */
    private static final int PATIENCE = 100;

    private static final long APART_NANOS = Duration.ofSeconds(1).toNanos();

    private final CoreContext core;
    private final Outbound out;
    private final Mirrors mirrors;
    private final ReservationIndex reservations;
    private final ReplicaCounters counters;
    private final Supplier<List<Partition>> partitions;
    private final BooleanSupplier closed;
    /** A booking is told when it is between one and two of these old, and then once in each. */
    private final Duration period;

    /** As many as there are partitions, which are made by this core's own workers alone. */
    private final ConcurrentMap<Partition, OpenAsks> asks = new ConcurrentHashMap<>();

    private final AtomicBoolean refreshing = new AtomicBoolean();
    private final AtomicBoolean peerWaits = new AtomicBoolean();
    /** The instant before which peers that have just come are not told everything once more. */
    private final AtomicLong nextForPeers;

    Retelling(
            CoreContext core,
            Outbound out,
            Mirrors mirrors,
            ReservationIndex reservations,
            ReplicaCounters counters,
            Supplier<List<Partition>> partitions,
            BooleanSupplier closed) {
        this.core = core;
        this.out = out;
        this.mirrors = mirrors;
        this.reservations = reservations;
        this.counters = counters;
        this.partitions = partitions;
        this.closed = closed;
        period = core.config().lifetimes().replicaOrphanTimeout().dividedBy(4);
        nextForPeers = new AtomicLong(core.ticker().read());
    }

    // ---- somebody asks

    /** Somebody asks what is booked and bound on a worker: told soon to all, once to all who have asked by then. */
    void asked(Partition in, long workerId) {
        OpenAsks open = open(in);
        switch (open.add(workerId)) {
            case FIRST -> answerSoon(in, open);
            case COLLECTED -> {}
            case FULL -> answer(in, Set.of(workerId));
        }
    }

    private OpenAsks open(Partition in) {
        return asks.computeIfAbsent(in, p -> new OpenAsks(MOST_ASKED));
    }

    private void answerSoon(Partition in, OpenAsks open) {
        if (!schedule(PACE, () -> answer(in, open.take()))) {
            answer(in, open.take());
        }
    }

    private void answer(Partition in, Set<Long> workers) {
        if (workers.isEmpty()) {
            return;
        }
        in.mailbox()
                .submit(() -> tell(
                        in,
                        in.bookings(entry -> isOwn(entry)
                                && workers.contains(entry.id().worker().workerId()))));
        SessionAffinity table = in.sessions();
        if (table != null) {
            remind(table.snapshot(Integer.MAX_VALUE, target -> workers.contains(target.workerId())), 0, 0);
        }
    }

    /** A peer has begun to listen, or may have missed something, asks included: tells it everything, soon, and asks again. */
    void peerListens() {
        if (peerWaits.compareAndSet(false, true)) {
            long wait =
                    Math.max(PACE.toNanos(), nextForPeers.get() - core.ticker().read());
            later(Duration.ofNanos(wait), peerWaits, this::tellPeers);
        }
    }

    private void tellPeers() {
        nextForPeers.set(core.ticker().read() + APART_NANOS);
        for (Partition in : partitions.get()) {
            // What has been asked until now is told with all the rest.
            open(in).take();
            in.mailbox().submit(() -> tell(in, in.bookings(Retelling::isOwn)));
            SessionAffinity table = in.sessions();
            if (table != null) {
                remind(table.snapshot(Integer.MAX_VALUE), 0, 0);
            }
            if (!closed.getAsBoolean()) {
                askAll(in);
            }
        }
    }

    private void askAll(Partition in) {
        in.schedulableWorkers().stream().sorted(Long::compareUnsigned).forEach(id -> {
            WorkerSpec spec = in.schedulable(id);
            if (spec != null) {
                out.ask(spec);
            }
        });
    }

    // ---- time passes

    /** Something is booked: it may grow old. Nothing is scheduled while nothing is booked. */
    void refreshLater() {
        if (!refreshing.get() && refreshing.compareAndSet(false, true)) {
            later(period, refreshing, this::refresh);
        }
    }

    private void refresh() {
        long now = core.ticker().read();
        for (Partition in : partitions.get()) {
            in.mailbox()
                    .submit(() -> tell(
                            in, in.bookings(entry -> isOwn(entry) && now - entry.startedAt() >= period.toNanos())));
        }
        if (reservations.size() > 0) {
            refreshLater();
        }
    }

    private void later(Duration delay, AtomicBoolean flag, Runnable work) {
        boolean scheduled = schedule(delay, () -> {
            flag.set(false);
            work.run();
        });
        if (!scheduled) {
            flag.set(false);
        }
    }

    /** False if the scheduler refuses. */
    private boolean schedule(Duration delay, Runnable work) {
        try {
            core.scheduler().schedule(delay, work);
            return true;
        } catch (RuntimeException | Error e) {
            LOG.debug("the scheduler refuses what is to be told to replicas later", e);
            return false;
        }
    }

    // ---- telling bookings, inside the step

    private static boolean isOwn(LedgerEntry entry) {
        return entry.ownership() != Ownership.REPLICA;
    }

    private void tell(Partition in, List<LedgerEntry> bookings) {
        if (!bookings.isEmpty()) {
            tell(in, bookings, 0, 0);
        }
    }

    /**
     * Some at a time, so that the step stays short. Where the way out is full, the same are told again a little later: else what does not fit
     * would be the same in every round, and never be told.
     *
     * @param refused how often in a row the way out was full
     */
    private void tell(Partition in, List<LedgerEntry> bookings, int from, int refused) {
        List<BookingEvent> events = new ArrayList<>();
        // What ended since the step that told it: its end may have gone out first, and to fewer.
        for (LedgerEntry told : bookings.subList(Math.max(0, from - BOOKINGS_PER_STEP), from)) {
            if (!told.live()) {
                events.add(word(in, told, Word.FREE));
            }
        }
        int ends = events.size();
        int to = Math.min(bookings.size(), from + BOOKINGS_PER_STEP);
        List<Integer> places = new ArrayList<>();
        for (int i = from; i < to; i++) {
            LedgerEntry entry = bookings.get(i);
            Reservation row = mirrors.handedOut(entry);
            if (row != null) {
                if (!entry.prefilling() && entry.wasCharged()) {
                    places.add(i);
                    events.add(word(in, entry, Word.PREFILL_COMPLETED));
                }
                places.add(i);
                events.add(out.addOf(in, entry, in.hashesOf(entry), entry.charged(), row.stage() == Stage.LEASED));
            }
        }
        in.mailbox().afterwards(() -> {
            int taken = publish(events);
            if (taken == events.size()) {
                if (from < bookings.size()) {
                    Runnable rest = () -> in.mailbox().submit(() -> tell(in, bookings, to, 0));
                    boolean paused = to / BOOKINGS_AT_ONCE > from / BOOKINGS_AT_ONCE && schedule(PACE, rest);
                    if (!paused) {
                        rest.run();
                    }
                }
            } else if (refused < PATIENCE && !closed.getAsBoolean()) {
                int next = taken < ends ? from : places.get(taken - ends);
                int inARow = next > from ? 1 : refused + 1;
                schedule(PACE, () -> in.mailbox().submit(() -> tell(in, bookings, next, inARow)));
            }
        });
    }

    /** How many the channel took before it refused one. */
    private int publish(List<BookingEvent> events) {
        for (int i = 0; i < events.size(); i++) {
            if (!out.publish(events.get(i))) {
                return i;
            }
            if (events.get(i).change() instanceof BookingEvent.Add) {
                counters.told.increment();
            }
        }
        return events.size();
    }

    private BookingEvent word(Partition in, LedgerEntry entry, Word what) {
        return out.wordOf(in, entry, out.ownKey(entry.id()), what);
    }

    // ---- telling sessions

    /** Not all at once: the way out is short, and a commit that finds it full is not told at all. */
    private void remind(List<AffinityReminder> bindings, int from, int refused) {
        int to = Math.min(bindings.size(), from + SESSIONS_AT_ONCE);
        int next = from;
        while (next < to && out.remind(bindings.get(next))) {
            next++;
        }
        int inARow = next < to && next == from ? refused + 1 : 0;
        int rest = next;
        if (rest < bindings.size() && inARow <= PATIENCE && !closed.getAsBoolean()) {
            schedule(PACE, () -> remind(bindings, rest, inARow));
        }
    }
}

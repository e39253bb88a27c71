package dev.tandemkv.selection.internal.replica;

import dev.tandemkv.affinity.AffinityReminder;
import dev.tandemkv.affinity.AffinityReplicaRecord;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.host.RecordCodec;
import dev.tandemkv.selection.host.ReplicaChannel;
import dev.tandemkv.selection.internal.ledger.BookingTerms;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.replica.BookingEvent.Word;
import dev.tandemkv.selection.internal.reservation.Reservation;
import dev.tandemkv.selection.internal.reservation.Reservation.Foreign;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts into words what was done here and hands it to the channel. Thread-safe; called after the change and outside every lock. */
final class Outbound {

    private static final Logger LOG = LoggerFactory.getLogger(Outbound.class);
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final ReplicaChannel channel;
    private final RecordCodec codec;
    private final long origin;
    private final Ticker ticker;
    private final ReplicaCounters counters;
    /** Added to attempts, which count from 1 in every life of a replica: one that comes back under its id does not repeat itself. */
    private final long epoch;
    /** The instant before which a drop is not logged again. */
    private final AtomicLong silentUntil;

    /**
     * @param origin this replica's id, not 0
     * @param startedMillis wall time of its start
     */
    Outbound(
            ReplicaChannel channel,
            RecordCodec codec,
            long origin,
            Ticker ticker,
            long startedMillis,
            ReplicaCounters counters) {
        this.channel = channel;
        this.origin = origin;
        this.ticker = ticker;
        this.counters = counters;
        this.codec = codec;
        epoch = startedMillis << 20;
        silentUntil = new AtomicLong(ticker.read());
    }

    long origin() {
        return origin;
    }

    // ---- bookings

    /**
     * @param prefill the prefill load that the booking carries now
     * @param hostOnly whether nobody may act on the booking by its id
     */
    BookingEvent addOf(Partition in, LedgerEntry entry, long[] hashes, PrefillHint prefill, boolean hostOnly) {
        BookingTerms terms = entry.terms();
        WorkerSpec spec = in.schedulable(terms.id().worker().workerId());
        return new BookingEvent(
                in.key(),
                in.blockSize(),
                ownKey(terms.id()),
                terms.id().worker(),
                origin,
                terms.loraName(),
                new BookingEvent.Add(
                        hashes,
                        terms.expectedOutputTokens(),
                        prefill,
                        hostOnly,
                        spec == null ? null : spec.incarnation()));
    }

    /** Something happened to a booking, this core's or a peer's. */
    void tell(Reservation row, LedgerEntry entry, Word what) {
        publish(wordOf(row.partition(), entry, keyOf(row, entry.id()), what));
    }

    BookingEvent wordOf(Partition in, LedgerEntry entry, BookingKey key, Word what) {
        return new BookingEvent(
                in.key(),
                in.blockSize(),
                key,
                entry.id().worker(),
                origin,
                entry.terms().loraName(),
                what);
    }

    BookingKey keyOf(Reservation row, BookingId id) {
        Foreign foreign = row.foreign();
        return foreign == null ? ownKey(id) : new BookingKey(foreign.owner(), id.selectionId(), foreign.attempt());
    }

    BookingKey ownKey(BookingId id) {
        return new BookingKey(origin, id.selectionId(), epoch + id.attemptId());
    }

    /** Asks what peers have booked on a worker. */
    void ask(WorkerSpec worker) {
        Integer blockSize = worker.blockSize();
        publish(new BookingEvent(
                worker.partition(),
                blockSize == null ? 0 : blockSize,
                new BookingKey(origin, "", 0),
                new WorkerRank(worker.workerId(), worker.startRank()),
                origin,
                null,
                Word.ASK));
    }

    /** Whether the channel took it. */
    boolean publish(BookingEvent event) {
        return send(ReplicaChannel.BOOKINGS, event.toFields());
    }

    // ---- sessions

    boolean announce(AffinityReplicaRecord binding) {
        return send(ReplicaChannel.SESSIONS, binding.toFields());
    }

    /** Tells a binding to who may not know it, which is no use of the session; whether the channel took it. */
    boolean remind(AffinityReminder reminder) {
        Map<String, @Nullable Object> fields = reminder.record().toFields();
        fields.put(Inbound.REMAINING, reminder.remaining().toMillis());
        return send(ReplicaChannel.SESSIONS, fields);
    }

    // ---- the channel

    private boolean send(String topic, Map<String, @Nullable Object> fields) {
        boolean accepted = false;
        RuntimeException failure = null;
        try {
            accepted = channel.publish(topic, codec.encode(fields)) == ReplicaChannel.Outcome.ACCEPTED;
        } catch (RuntimeException e) {
            failure = e;
        }
        (accepted ? counters.published : counters.outboundDropped).increment();
        if (!accepted) {
            logDrop(topic, failure);
        }
        return accepted;
    }

    private void logDrop(String topic, @Nullable RuntimeException failure) {
        long now = ticker.read();
        long due = silentUntil.get();
        if (now - due >= 0 && silentUntil.compareAndSet(due, now + QUIET_NANOS)) {
            LOG.warn("the replica channel drops messages of {}, {} so far", topic, counters.outboundDropped, failure);
        }
    }
}

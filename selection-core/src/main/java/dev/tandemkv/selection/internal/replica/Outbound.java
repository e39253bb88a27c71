package dev.tandemkv.selection.internal.replica;

import dev.tandemkv.affinity.AffinityReplicaRecord;
import dev.tandemkv.affinity.AffinityReplicaSink;
import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.ReplicaStats;
import dev.tandemkv.selection.host.ReplicaChannel;
import dev.tandemkv.selection.internal.ledger.BookingTerms;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.reservation.Reservation;
import dev.tandemkv.selection.internal.reservation.Reservation.Foreign;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells peers what was done here: bookings, ends of prefills, releases, session bindings. Output growth, expiry and the end of a worker are
 * each replica's own to see. Thread-safe; called after the change and outside every lock. A message that is lost costs peers accuracy
 * until the orphan timeout, and costs nobody a booking.
 */
public final class Outbound {

    private static final Logger LOG = LoggerFactory.getLogger(Outbound.class);
    private static final int MOST_ENDS = 100_000;

    private final ReplicaChannel channel;
    private final RecordCodec codec;
    private final long origin;
    private final Ticker ticker;
    private final EndedBookings ended;
    private final ReplicaCounters counters = new ReplicaCounters();

    /**
     * @param origin this replica's id, not 0
     * @param remembered how long ends of peers' bookings are remembered
     */
    public Outbound(ReplicaChannel channel, RecordCodec codec, long origin, Ticker ticker, Duration remembered) {
        this.channel = channel;
        this.codec = codec;
        this.origin = origin;
        this.ticker = ticker;
        ended = new EndedBookings(remembered.toNanos(), MOST_ENDS);
    }

    long origin() {
        return origin;
    }

    RecordCodec codec() {
        return codec;
    }

    EndedBookings ended() {
        return ended;
    }

    ReplicaCounters counters() {
        return counters;
    }

    public ReplicaStats stats() {
        return counters.snapshot();
    }

    /** A booking was handed out. */
    public void added(Partition in, LedgerEntry entry, long[] trackingHashes) {
        publish(addOf(in, entry, trackingHashes, entry.terms().prefill()));
    }

    BookingEvent addOf(Partition in, LedgerEntry entry, long[] trackingHashes, PrefillHint prefill) {
        BookingTerms terms = entry.terms();
        return new BookingEvent(
                in.key(),
                in.blockSize(),
                new BookingKey(origin, terms.id().selectionId(), terms.id().attemptId()),
                terms.id().worker(),
                origin,
                terms.loraName(),
                new BookingEvent.Add(trackingHashes, terms.expectedOutputTokens(), prefill));
    }

    /** The prefill of a booking, this core's or a peer's, was marked complete here. */
    public void prefillCompleted(Reservation row, LedgerEntry entry) {
        publish(row, entry, new BookingEvent.PrefillCompleted());
    }

    /** A booking, this core's or a peer's, was released here. */
    public void freed(Reservation row, LedgerEntry entry) {
        if (row.foreign() != null) {
            ended.note(keyOf(row, entry.id()), EndedBookings.End.BOOKING, ticker.read());
        }
        publish(row, entry, new BookingEvent.Free());
    }

    private void publish(Reservation row, LedgerEntry entry, BookingEvent.Change change) {
        Partition in = row.partition();
        publish(new BookingEvent(
                in.key(),
                in.blockSize(),
                keyOf(row, entry.id()),
                entry.id().worker(),
                origin,
                entry.terms().loraName(),
                change));
    }

    BookingKey keyOf(Reservation row, BookingId id) {
        Foreign foreign = row.foreign();
        return foreign == null
                ? new BookingKey(origin, id.selectionId(), id.attemptId())
                : new BookingKey(foreign.owner(), id.selectionId(), foreign.attempt());
    }

    /** A worker takes bookings here from now on: asks what peers have booked on it. */
    public void joined(WorkerSpec worker) {
        Integer blockSize = worker.blockSize();
        PartitionKey partition = worker.partition();
        publish(new BookingEvent(
                partition,
                blockSize == null ? 0 : blockSize,
                new BookingKey(origin, "", 0),
                new WorkerRank(worker.workerId(), worker.startRank()),
                origin,
                null,
                new BookingEvent.Ask()));
    }

    /** Lets a table announce its bindings. */
    public void replicate(SessionAffinity table) {
        AffinityReplicaSink sink = this::announce;
        table.startReplication(origin, () -> CompletableFuture.completedStage(sink));
    }

    boolean announce(AffinityReplicaRecord binding) {
        return send(ReplicaChannel.SESSIONS, binding.toFields());
    }

    void publish(BookingEvent event) {
        send(ReplicaChannel.BOOKINGS, event.toFields());
    }

    private boolean send(String topic, Map<String, @Nullable Object> fields) {
        boolean accepted = false;
        try {
            accepted = channel.publish(topic, codec.encode(fields)) == ReplicaChannel.Outcome.ACCEPTED;
        } catch (RuntimeException e) {
            LOG.debug("the replica channel failed", e);
        }
        (accepted ? counters.published : counters.outboundDropped).increment();
        return accepted;
    }

    void listen(ReplicaChannel.Handler bookings, ReplicaChannel.Handler sessions) {
        channel.subscribe(ReplicaChannel.BOOKINGS, bookings);
        channel.subscribe(ReplicaChannel.SESSIONS, sessions);
    }
}

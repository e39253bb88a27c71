package dev.tandemkv.selection.internal.replica;

import dev.tandemkv.affinity.AffinityReplicaSink;
import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.ReplicaStats;
import dev.tandemkv.selection.host.RecordCodec;
import dev.tandemkv.selection.host.ReplicaChannel;
import dev.tandemkv.selection.host.ReplicaPeers;
import dev.tandemkv.selection.host.Replication;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.partition.CoreContext;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.replica.BookingEvent.Word;
import dev.tandemkv.selection.internal.reservation.Reservation;
import dev.tandemkv.selection.internal.reservation.Reservation.Stage;
import dev.tandemkv.selection.internal.reservation.ReservationIndex;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The replicas of one core, as the rest of it sees them: told what was done here, heard once {@link #start started}. Output growth,
 * expiry and the end of a worker are each replica's own to see. Thread-safe; called after the change and outside every lock. A message
 * that is lost costs peers accuracy for a while, and costs nobody a booking.
 */
public final class Replicas {

    private static final int MOST_ENDS = 100_000;

    private final CoreContext core;
    private final Replication port;
    private final RecordCodec codec;
    private final Outbound out;
    private final Mirrors mirrors;
    private final Retelling retelling;
    private final Supplier<List<Partition>> partitions;
    private final EndedBookings ended;
    private final ReplicaCounters counters = new ReplicaCounters();

    /**
     * @param partitions all of them, whenever asked
     * @param own what a peer may do, by id, to a booking of this core
     * @param closed whether the core is
     */
    public Replicas(
            CoreContext core,
            Replication port,
            ReservationIndex reservations,
            Supplier<List<Partition>> partitions,
            OwnBookings own,
            BooleanSupplier closed) {
        this.core = core;
        this.port = port;
        this.partitions = partitions;
        ended = new EndedBookings(
                core.config().lifetimes().replicaOrphanTimeout().toNanos(), MOST_ENDS);
        codec = port.channel().codec();
        out = new Outbound(
                port.channel(),
                codec,
                originOf(core, port.channel()),
                core.ticker(),
                core.clock().millis(),
                counters);
        mirrors = new Mirrors(out, reservations, ended, counters, own, closed);
        retelling = new Retelling(core, out, mirrors, reservations, counters, partitions, closed);
    }

    private static long originOf(CoreContext core, ReplicaChannel channel) {
        long id = channel.processId().orElse(0);
        while (id == 0) {
            id = core.random().nextLong();
        }
        return id;
    }

    /** Begins to take messages. */
    public void start(Function<PartitionKey, @Nullable Partition> find) {
        Inbound in =
                new Inbound(out.origin(), codec, core.ticker(), find, mirrors, retelling, counters, port.observer());
        port.channel().onPeer(retelling::peerListens);
        port.channel().subscribe(ReplicaChannel.BOOKINGS, in::booking);
        port.channel().subscribe(ReplicaChannel.SESSIONS, in::session);
    }

    /** Lets go of the mirrors. The core's own bookings stay, and peers may still end them. Called once the core is closed. */
    public void close() {
        for (Partition in : partitions.get()) {
            in.mailbox().submit(() -> {
                mirrors.dropAll(in);
                in.released();
            });
        }
    }

    public ReplicaStats stats() {
        return counters.snapshot();
    }

    /** The peers as a list of endpoints, where the channel has one. */
    public Optional<ReplicaPeers> peers() {
        return port.channel().peers();
    }

    // ---- what was done here

    /** A booking was handed out. */
    public void added(Partition in, Reservation row, LedgerEntry entry, long[] trackingHashes) {
        out.publish(out.addOf(in, entry, trackingHashes, entry.terms().prefill(), row.stage() == Stage.LEASED));
        retelling.refreshLater();
    }

    /** A booking that carried no prefill load was charged with it. */
    public void charged(Reservation row, LedgerEntry entry, long[] trackingHashes) {
        out.publish(out.addOf(row.partition(), entry, trackingHashes, entry.charged(), row.stage() == Stage.LEASED));
    }

    /** The prefill of a booking, this core's or a peer's, was marked complete here. */
    public void prefillCompleted(Reservation row, LedgerEntry entry) {
        out.tell(row, entry, Word.PREFILL_COMPLETED);
    }

    /** Somebody made progress here, by its id, on a booking: the one who owns it should know. */
    public void progressed(Reservation row, LedgerEntry entry) {
        long quiet = core.config().lifetimes().bookingLease().toNanos() / 4;
        if (row.foreign() != null && row.isDueToTell(core.ticker().read(), quiet)) {
            out.tell(row, entry, Word.PROGRESS);
        }
    }

    /** A booking, this core's or a peer's, was released here. */
    public void freed(Reservation row, LedgerEntry entry) {
        mirrors.remember(out.keyOf(row, entry.id()), Word.FREE, core.ticker().read());
        out.tell(row, entry, Word.FREE);
    }

    /** A worker takes bookings here from now on: asks what peers have booked on it. */
    public void joined(WorkerSpec worker) {
        out.ask(worker);
    }

    /** Lets a table announce its bindings. */
    public void replicate(SessionAffinity table) {
        AffinityReplicaSink sink = out::announce;
        table.startReplication(out.origin(), () -> CompletableFuture.completedStage(sink));
    }

    /** Ends of peers' bookings that are remembered; a measure of memory. */
    int remembered() {
        return ended.size();
    }
}

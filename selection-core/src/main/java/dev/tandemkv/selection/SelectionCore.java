package dev.tandemkv.selection;

import dev.tandemkv.affinity.AffinityStats;
import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.CatalogChanges;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerCatalog;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.indexer.EventOutcome;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.approximate.OverlayStats;
import dev.tandemkv.indexer.dump.PeerDumpWriter;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import dev.tandemkv.selection.explain.Regret;
import dev.tandemkv.selection.host.ReplicaPeers;
import dev.tandemkv.selection.internal.CoreParts;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.partition.ReadModels;
import dev.tandemkv.selection.internal.replica.Replicas;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Chooses which worker serves a request and keeps the books of what was promised, for every model and routing group of one process.
 *
 * <p>Thread-safe. Nothing blocks for traffic: what can wait answers with a stage, which completes on the calling thread where nothing makes
 * it wait. Cancelling a stage that this class returned withdraws the request. No thread is started; what happens by time alone runs on the
 * {@linkplain SelectionCoreBuilder#scheduler scheduler}.
 *
 * <pre>{@code
 * SelectionCore core = SelectionCore.builder().scheduler(Scheduler.of(executor)).build();
 * core.upsert(WorkerSpec.builder(1).endpoint("10.0.0.1:8000").blockSize(64).build());
 * core.selectAndReserve(SelectRequest.builder(Prompt.ofTokens(tokens)).build())
 *     .thenAccept(booking -> {
 *         try (booking) {
 *             send(booking.selection().endpoint());
 *         }
 *     });
 * }</pre>
 */
public final class SelectionCore implements SelectionPool, WorkerCatalog, AutoCloseable {

    private final CoreParts parts;

    SelectionCore(CoreParts parts) {
        this.parts = parts;
    }

    public static SelectionCoreBuilder builder() {
        return new SelectionCoreBuilder();
    }

    // ---- choosing

    @Override
    public CompletionStage<Selection> select(SelectRequest request) {
        return parts.requests().select(request);
    }

    @Override
    public CompletionStage<Optional<List<RankScore>>> score(SelectRequest request) {
        return parts.readings().score(request);
    }

    @Override
    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        return parts.requests().selectAndReserve(request);
    }

    /** As {@link #selectAndReserve}, for a caller that keeps only the id: the booking lives by its lease, which any progress renews. */
    public CompletionStage<Selection> reserve(SelectRequest request) {
        return parts.requests().reserve(request);
    }

    /**
     * As {@link #selectAndReserve}, for a host that keeps the handle and lets nobody act on the booking by its id. Where bookings teach what
     * ranks hold, this one does not: the host says so when it dispatches ({@link #recordRouting}).
     */
    public CompletionStage<Booking> lease(SelectRequest request) {
        return parts.requests().lease(request);
    }

    /**
     * Books without a decision: what an earlier selection under the same id decided, or a prompt on a rank that the caller names. The
     * booking is owned by its id and lives by its lease.
     */
    public CompletionStage<Reserved> createReservation(ReservationRequest request) {
        return parts.requests().createReservation(request);
    }

    /** {@link #select} that never waits. */
    public Attempted<Selection> trySelect(SelectRequest request) {
        return parts.requests().trySelect(request);
    }

    /** {@link #selectAndReserve} that never waits: it books or leaves nothing behind. */
    public Attempted<Booking> tryReserve(SelectRequest request) {
        return parts.requests().tryReserve(request);
    }

    // ---- bookings, by handle

    @Override
    public CompletionStage<FreeOutcome> free(Booking booking) {
        return parts.requests().free(booking);
    }

    /** As {@link #free(Booking)}, for a request that did not end well: a session that moves on success stays where it was. */
    public CompletionStage<FreeOutcome> freeFailed(Booking booking) {
        return parts.requests().freeFailed(booking);
    }

    @Override
    public CompletionStage<@Nullable Void> prefillComplete(Booking booking) {
        return parts.requests().prefillComplete(booking);
    }

    @Override
    public CompletionStage<ChargeOutcome> chargePrefill(Booking booking) {
        return parts.requests().chargePrefill(booking);
    }

    @Override
    public CompletionStage<@Nullable Void> touch(Booking booking) {
        return parts.requests().touch(booking);
    }

    // ---- bookings, by id

    @Override
    public CompletionStage<FreeOutcome> free(String selectionId) {
        return parts.requests().free(selectionId);
    }

    /** Ends the prefill load of the booking under an id; fails with {@link NotFoundException} if there is none. */
    public CompletionStage<@Nullable Void> prefillComplete(String selectionId) {
        return parts.requests().prefillComplete(selectionId);
    }

    /**
     * Counts output blocks; fails with {@link NotFoundException} if there is no booking under the id.
     *
     * @param blocks at least 1
     */
    public CompletionStage<@Nullable Void> addOutputBlocks(String selectionId, int blocks) {
        return parts.requests().addOutputBlocks(selectionId, blocks, null);
    }

    /**
     * Counts output blocks and weighs what the booking holds alone.
     *
     * @param blocks at least 1
     * @param remainingFraction 0 to 1
     */
    public CompletionStage<@Nullable Void> addOutputBlocks(String selectionId, int blocks, double remainingFraction) {
        return parts.requests().addOutputBlocks(selectionId, blocks, remainingFraction);
    }

    /** Renews the lease of the booking under an id; fails with {@link NotFoundException} if there is none. */
    public CompletionStage<@Nullable Void> touch(String selectionId) {
        return parts.requests().touch(selectionId);
    }

    // ---- workers

    @Override
    public WorkerRecord upsert(WorkerSpec spec) {
        parts.engine().requireOpen();
        return parts.workers().upsert(spec);
    }

    /**
     * Changes some of a worker's metadata.
     *
     * @param change applied to the present metadata, on this thread and outside every lock; it may run more than once. What it sets to
     *     {@code null} is gone; id, model and group must stay
     * @throws NotFoundException if there is no such worker
     */
    public WorkerRecord patch(long workerId, UnaryOperator<WorkerSpec.Builder> change) {
        parts.engine().requireOpen();
        return parts.workers().patch(workerId, change);
    }

    @Override
    public CatalogChanges.Results apply(CatalogChanges changes, CancellationSignal cancel) {
        parts.engine().requireOpen();
        return parts.workers().apply(changes.upserts(), changes.removals(), cancel);
    }

    @Override
    public WorkerRecord remove(long workerId) {
        return parts.workers().remove(workerId);
    }

    /**
     * Lets a worker take no new bookings and tells when those it has are over. The worker stays registered; the caller removes it. A scheduler
     * that refuses to time the bound is no failure: {@link DrainOutcome#NOT_TIMED}.
     *
     * @param bound longest wait, from 0 to 100 years
     * @throws BadRequestException if the bound is none of these
     * @throws NotFoundException if there is no such worker
     */
    public CompletionStage<DrainOutcome> drain(long workerId, Duration bound) {
        return parts.drains().drain(workerId, bound);
    }

    @Override
    public Optional<WorkerRecord> find(long workerId) {
        return parts.workers().find(workerId);
    }

    @Override
    public List<WorkerRecord> list() {
        return parts.workers().list();
    }

    @Override
    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
        return CompletableFuture.completedStage(
                find(workerId).filter(record -> record.spec().partition().equals(partition)));
    }

    /**
     * Makes a partition before its first worker.
     *
     * @param blockSize unsigned 32-bit, not 0
     */
    public void ensurePartition(PartitionKey partition, int blockSize, boolean eagle) {
        parts.engine().requireOpen();
        parts.partitions().ensure(partition, blockSize, eagle);
    }

    /** Says that the overload or the availability provider would answer otherwise now, so that waiting requests are looked at. */
    public void hostSignalsChanged() {
        parts.partitions().all().forEach(partition -> partition.mailbox().submit(partition::drain));
    }

    // ---- cache events

    /**
     * Applies one event of one rank to its partition's index. For hosts that decode events themselves; those that want ordering, loss
     * detection and recovery as well put a feed before {@link #index}.
     *
     * @throws NotFoundException if there is no such partition
     */
    public EventOutcome apply(PartitionKey partition, WorkerRank rank, KvEvent event) {
        return index(partition).apply(rank, event);
    }

    /**
     * Says that a prompt goes to a rank, so that the rank is assumed to hold it; for hosts that {@linkplain #lease lease}. Does nothing where
     * the partition follows events alone.
     *
     * @throws NotFoundException if there is no such partition
     */
    public void recordRouting(PartitionKey partition, WorkerRank rank, Prompt prompt) {
        Partition in = parts.partition(partition);
        in.cache()
                .record(
                        rank,
                        in.hashing().prepare(prompt, RouterConfigOverride.NONE).blockHashes());
    }

    /**
     * The index of a partition.
     *
     * @throws NotFoundException if there is no such partition
     */
    public PrefixIndex index(PartitionKey partition) {
        return parts.partition(partition).cache().index();
    }

    // ---- reading

    /** Load of every rank, one entry per partition, by model and group. */
    public List<PartitionLoads> loads() {
        return parts.partitions().all().stream().map(ReadModels::loads).toList();
    }

    /** Load of one partition; empty if there is none. */
    public Optional<PartitionLoads> loads(PartitionKey partition) {
        Partition found = parts.partitions().find(partition);
        return Optional.ofNullable(found).map(ReadModels::loads);
    }

    /**
     * Load of every rank of the request's partition as it would be with its prompt, by worker id and rank. The shared cache is not asked.
     * Fails with {@link NotReadyException} if the partition has no schedulable worker.
     */
    public CompletionStage<List<RankLoad>> potentialLoads(SelectRequest request) {
        return parts.readings().potentialLoads(request);
    }

    /**
     * What every rank of the request's partition, and the shared cache, holds of its prompt. Fails with {@link NotReadyException} if the
     * partition has no schedulable worker.
     */
    public CompletionStage<OverlapReport> overlapScores(SelectRequest request) {
        return parts.readings().overlapScores(request);
    }

    /**
     * Writes what the indexes of all partitions hold, in the form that routers of this family exchange ({@link PeerDumpWriter}): as one
     * JSON document, partition by partition and rank by rank, so that no more than a rank is held in memory. A remote index has nothing to
     * dump. What is written can be read with {@link dev.tandemkv.indexer.dump.IndexDump#read}.
     *
     * @param out written to on this thread, under no lock, and left open
     */
    public void dump(OutputStream out) throws IOException {
        try (PeerDumpWriter dump = PeerDumpWriter.to(out)) {
            for (Partition partition : parts.partitions().all()) {
                partition.cache().dump(dump);
            }
        }
    }

    /** What the bookings of a partition gave up against the best overlap and the lowest cost; empty if there is no such partition. */
    public Optional<Regret.Snapshot> regret(PartitionKey partition) {
        return Optional.ofNullable(parts.partitions().find(partition)).map(Partition::regret);
    }

    /** What the session table of a partition did and holds; empty if there is no such partition, or sessions do not stick there. */
    public Optional<AffinityStats> sessionStats(PartitionKey partition) {
        return Optional.ofNullable(parts.partitions().find(partition))
                .map(Partition::sessions)
                .map(SessionAffinity::stats);
    }

    /** What the workers of a partition do, as the builder was told. */
    public Role role(PartitionKey partition) {
        return parts.engine().core().policies().roleOf(partition);
    }

    /** What is assumed of a partition's caches from its bookings, and was; empty if there is no such partition, or nothing is assumed there. */
    public Optional<OverlayStats> assumptionStats(PartitionKey partition) {
        return Optional.ofNullable(parts.partitions().find(partition))
                .flatMap(found -> found.cache().assumptions());
    }

    /** The settings that this core was built with. */
    public SelectionConfig config() {
        return parts.engine().core().config();
    }

    /** How far the knowledge of a partition's caches is believed; empty if there is no such partition. */
    public Optional<CacheSignal> cacheSignal(PartitionKey partition) {
        return Optional.ofNullable(parts.partitions().find(partition))
                .map(found -> found.cache().trust().signal());
    }

    /**
     * Tells how many tokens of a booked prompt its engine found cached, so that predictions that are wrong for long raise an alarm.
     *
     * @param cachedTokens as the engine reported; at least 0
     * @throws BadRequestException if it is negative
     */
    public void reportCached(Booking booking, long cachedTokens) {
        if (cachedTokens < 0) {
            throw new BadRequestException("cached_tokens", cachedTokens, ">= 0");
        }
        Selection selection = booking.selection();
        Partition in = parts.partitions().find(selection.partition());
        if (in != null) {
            in.cache().trust().reported(selection.islTokens(), selection.cachedTokens(), cachedTokens);
        }
    }

    /**
     * What every request is told before its prompt is looked at, for hosts that read prompts themselves.
     *
     * @throws dev.tandemkv.catalog.ShutdownException after close
     * @throws NotReadyException if the partition has no schedulable worker
     */
    public void requireReady(PartitionKey partition) {
        parts.engine().requireOpen();
        parts.engine().ready(partition);
    }

    public Readiness ready() {
        return parts.readings().ready();
    }

    // ---- replicas

    /**
     * Listens to one more replica.
     *
     * @param endpoint as the replica channel writes it
     * @return false if it listened to it before
     * @throws BadRequestException if that is no endpoint
     * @throws ConflictException if this core has no replicas, or none that are told apart by endpoint
     */
    public boolean registerPeer(String endpoint) {
        return parts.peers().register(endpoint);
    }

    /**
     * Listens to a replica no more. What was learned from it ends by its time.
     *
     * @throws NotFoundException if it did not listen to it
     * @throws ConflictException as for {@link #registerPeer}
     */
    public void deregisterPeer(String endpoint) {
        if (!parts.peers().deregister(endpoint)) {
            throw new NotFoundException("peer", endpoint);
        }
    }

    /** The endpoints of the replicas listened to, sorted; empty where this core has none. */
    public List<String> peers() {
        Replicas replicas = parts.replicas();
        return replicas == null
                ? List.of()
                : replicas.peers().map(ReplicaPeers::endpoints).orElse(List.of());
    }

    /** What replication did, or empty where this core has no replicas. */
    public Optional<ReplicaStats> replicaStats() {
        return Optional.ofNullable(parts.engine().replicaStats());
    }

    public SelectionStats stats() {
        return parts.readings().stats();
    }

    /**
     * Refuses new requests and registrations with {@code SHUTDOWN} and ends those that wait. Bookings stay until they are freed; removing
     * workers, listing and reading still work. Idempotent.
     */
    @Override
    public void close() {
        parts.close();
    }
}

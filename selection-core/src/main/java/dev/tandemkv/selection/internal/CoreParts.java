package dev.tandemkv.selection.internal;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.hash.TrackingHasher;
import dev.tandemkv.indexer.health.HashParity;
import dev.tandemkv.selection.SelectionObserver;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.TrackingConfig;
import dev.tandemkv.selection.explain.DecisionLog;
import dev.tandemkv.selection.host.ReplicaChannel;
import dev.tandemkv.selection.host.SelectionHost;
import dev.tandemkv.selection.internal.membership.Drains;
import dev.tandemkv.selection.internal.membership.PartitionRegistry;
import dev.tandemkv.selection.internal.membership.WorkerRegistry;
import dev.tandemkv.selection.internal.partition.Afterwards;
import dev.tandemkv.selection.internal.partition.CoreContext;
import dev.tandemkv.selection.internal.partition.Counters;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.partition.SharedRandom;
import dev.tandemkv.selection.internal.replica.Inbound;
import dev.tandemkv.selection.internal.replica.JsonCodec;
import dev.tandemkv.selection.internal.replica.Outbound;
import dev.tandemkv.selection.internal.reservation.PendingSelections;
import dev.tandemkv.selection.internal.reservation.Reservation;
import dev.tandemkv.selection.internal.reservation.ReservationIndex;
import dev.tandemkv.selection.internal.run.Engine;
import dev.tandemkv.selection.internal.run.Readings;
import dev.tandemkv.selection.internal.run.Requests;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Clock;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of one core, wired once.
 *
 * @param engine what its requests share
 * @param requests its operations on requests and bookings
 * @param workers its workers
 * @param partitions its partitions
 * @param drains waits for draining workers
 * @param readings what can be read of it
 */
public record CoreParts(
        Engine engine,
        Requests requests,
        WorkerRegistry workers,
        PartitionRegistry partitions,
        Drains drains,
        Readings readings) {

    private static final Logger LOG = LoggerFactory.getLogger(CoreParts.class);

    public static CoreParts assemble(
            SelectionConfig config,
            SelectionHost host,
            Ticker ticker,
            Clock clock,
            Scheduler scheduler,
            RandomGenerator random,
            @Nullable Executor executor,
            SelectionObserver observer,
            SourceTraits traits,
            CoreContext.Policies policies,
            @Nullable DecisionLog log) {
        HashParity.verify();
        config.withoutEffect().forEach(setting -> LOG.warn("setting without effect: {}", setting));
        ReservationIndex reservations = new ReservationIndex();
        PendingSelections pending = new PendingSelections(config.lifetimes(), ticker);
        // The engine is told of bookings that end by themselves, by partitions that it in turn looks up.
        Engine[] engine = new Engine[1];
        CoreContext core = new CoreContext(
                config,
                host,
                ticker,
                clock,
                scheduler,
                new SharedRandom(random),
                observer,
                new Afterwards(executor),
                (entry, reason) -> engine[0].ended(entry, reason),
                new Counters(),
                policies,
                log);
        Outbound peers = outbound(core);
        PartitionRegistry partitions = new PartitionRegistry(
                core, traits, keyed(config.tracking()), peers == null ? table -> {} : peers::replicate);
        engine[0] = new Engine(core, partitions::find, reservations, pending, peers);
        WorkerRegistry workers = new WorkerRegistry(core, partitions, peers == null ? worker -> {} : peers::joined);
        if (peers != null) {
            new Inbound(peers, partitions::find, reservations, ownBookings(engine[0]), engine[0]::isClosed).start();
        }
        return new CoreParts(
                engine[0],
                new Requests(engine[0]),
                workers,
                partitions,
                new Drains(core, workers, partitions),
                new Readings(engine[0], workers));
    }

    /** The way to the replicas, or {@code null} for a core of its own. */
    private static @Nullable Outbound outbound(CoreContext core) {
        ReplicaChannel channel = core.host().replicaChannel();
        if (channel == null || !core.config().replicaSync()) {
            if (core.config().replicaSync()) {
                LOG.warn("setting without effect: router_replica_sync: the host has no replica channel");
            } else if (channel != null) {
                LOG.warn("replica channel without effect: router_replica_sync is false");
            }
            return null;
        }
        long id = core.random().nextLong();
        return new Outbound(
                channel,
                new JsonCodec(),
                id == 0 ? 1 : id,
                core.ticker(),
                core.config().lifetimes().replicaOrphanTimeout());
    }

    private static Inbound.OwnBookings ownBookings(Engine engine) {
        return new Inbound.OwnBookings() {
            @Override
            public void free(Reservation row) {
                engine.lifecycle().free(row);
            }

            @Override
            public void prefillComplete(Reservation row) {
                engine.lifecycle().prefillComplete(row);
            }
        };
    }

    private static Function<PartitionKey, @Nullable TrackingHasher> keyed(TrackingConfig tracking) {
        if (tracking.hash() != TrackingConfig.TrackingHash.KEYED_XXH3_V1
                || tracking.hashKeyFile() == null
                || tracking.hashKeyId() == null) {
            return key -> null;
        }
        byte[] secret;
        try {
            secret = Files.readAllBytes(tracking.hashKeyFile());
        } catch (IOException e) {
            throw new BadRequestException("router_tracking_hash_key_file", tracking.hashKeyFile(), "a readable file");
        }
        if (secret.length != 32) {
            throw new BadRequestException("router_tracking_hash_key_file", secret.length + " bytes", "32 bytes");
        }
        String id = tracking.hashKeyId();
        return key -> TrackingHasher.keyedXxh3(secret, id, key);
    }

    /** @throws NotFoundException if there is no such partition */
    public Partition partition(PartitionKey key) {
        Partition found = partitions.find(key);
        if (found == null) {
            throw new NotFoundException("partition", key.toString());
        }
        return found;
    }

    public void close() {
        engine.close();
        partitions.close();
    }
}

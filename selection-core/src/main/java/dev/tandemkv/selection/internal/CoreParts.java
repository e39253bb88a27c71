package dev.tandemkv.selection.internal;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ConflictException;
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
import dev.tandemkv.selection.host.ReplicaPeers;
import dev.tandemkv.selection.host.Replication;
import dev.tandemkv.selection.host.SelectionHost;
import dev.tandemkv.selection.internal.membership.Drains;
import dev.tandemkv.selection.internal.membership.PartitionRegistry;
import dev.tandemkv.selection.internal.membership.WorkerRegistry;
import dev.tandemkv.selection.internal.partition.Afterwards;
import dev.tandemkv.selection.internal.partition.CoreContext;
import dev.tandemkv.selection.internal.partition.Counters;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.partition.SharedRandom;
import dev.tandemkv.selection.internal.replica.OwnBookings;
import dev.tandemkv.selection.internal.replica.Replicas;
import dev.tandemkv.selection.internal.reservation.PendingSelections;
import dev.tandemkv.selection.internal.reservation.Reservation;
import dev.tandemkv.selection.internal.reservation.ReservationIndex;
import dev.tandemkv.selection.internal.run.Engine;
import dev.tandemkv.selection.internal.run.Lifecycle;
import dev.tandemkv.selection.internal.run.Readings;
import dev.tandemkv.selection.internal.run.Requests;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
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
 * @param replicas its replicas, or {@code null} where it stands alone
 */
public record CoreParts(
        Engine engine,
        Requests requests,
        WorkerRegistry workers,
        PartitionRegistry partitions,
        Drains drains,
        Readings readings,
        @Nullable Replicas replicas) {

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
        withoutEffect(config, host).forEach(setting -> LOG.warn("without effect: {}", setting));
        ReservationIndex reservations = new ReservationIndex();
        PendingSelections pending = new PendingSelections(config.lifetimes(), ticker);
        // The engine is told of bookings that end by themselves, by partitions that it in turn looks up.
        Engine[] engine = new Engine[1];
        PartitionRegistry[] registry = new PartitionRegistry[1];
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
        Replication port = host.replication();
        Replicas peers = port == null || !config.replicaSync()
                ? null
                : new Replicas(
                        core,
                        port,
                        reservations,
                        () -> registry[0].all(),
                        ownBookings(() -> engine[0].lifecycle()),
                        () -> engine[0].isClosed());
        PartitionRegistry partitions = new PartitionRegistry(
                core, traits, keyed(config.tracking()), peers == null ? table -> {} : peers::replicate);
        registry[0] = partitions;
        engine[0] = new Engine(core, partitions::find, reservations, pending, peers);
        WorkerRegistry workers = new WorkerRegistry(core, partitions, peers == null ? worker -> {} : peers::joined);
        if (peers != null) {
            peers.start(partitions::find);
        }
        return new CoreParts(
                engine[0],
                new Requests(engine[0]),
                workers,
                partitions,
                new Drains(core, workers, partitions),
                new Readings(engine[0], workers),
                peers);
    }

    private static OwnBookings ownBookings(Supplier<Lifecycle> lifecycle) {
        return new OwnBookings() {
            @Override
            public void free(Reservation row) {
                lifecycle.get().free(row);
            }

            @Override
            public void prefillComplete(Reservation row) {
                lifecycle.get().prefillCompleteByPeer(row);
            }

            @Override
            public void touch(Reservation row) {
                lifecycle.get().touch(row);
            }
        };
    }

    /** Settings and ports that have no effect beside the others. */
    public static List<String> withoutEffect(SelectionConfig config, SelectionHost host) {
        List<String> idle = new ArrayList<>(config.withoutEffect());
        idle.addAll(host.withoutEffect(config));
        return List.copyOf(idle);
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

    /** @throws ConflictException if there are no replicas, or none with endpoints */
    public ReplicaPeers peers() {
        if (replicas == null) {
            throw new ConflictException("replica_sync", "peers", "router_replica_sync is off");
        }
        return replicas.peers()
                .orElseThrow(() -> new ConflictException("replica_sync", "peers", "the channel has no endpoints"));
    }

    public void close() {
        engine.close();
        if (replicas != null) {
            replicas.close();
        }
        partitions.close();
    }
}

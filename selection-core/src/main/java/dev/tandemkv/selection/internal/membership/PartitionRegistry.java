package dev.tandemkv.selection.internal.membership;

import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.hash.TrackingHasher;
import dev.tandemkv.selection.config.SessionConfig;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.internal.partition.CacheTrust;
import dev.tandemkv.selection.internal.partition.CacheView;
import dev.tandemkv.selection.internal.partition.CoreContext;
import dev.tandemkv.selection.internal.partition.Partition;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The partitions of one core. A partition is made once, by its first complete worker or by name, and never destroyed. Thread-safe; reading
 * takes no lock.
 */
public final class PartitionRegistry {

    private final CoreContext core;
    private final SourceTraits traits;
    private final Function<PartitionKey, @Nullable TrackingHasher> keyed;
    private final Consumer<SessionAffinity> onSessions;
    private final ConcurrentMap<PartitionKey, Partition> partitions = new ConcurrentHashMap<>();
    private final Object creation = new Object();

    /**
     * @param keyed the keyed tracking hash of a partition, or {@code null} for the public one
     * @param onSessions given each new session table
     */
    public PartitionRegistry(
            CoreContext core,
            SourceTraits traits,
            Function<PartitionKey, @Nullable TrackingHasher> keyed,
            Consumer<SessionAffinity> onSessions) {
        this.core = core;
        this.traits = traits;
        this.keyed = keyed;
        this.onSessions = onSessions;
    }

    public @Nullable Partition find(PartitionKey key) {
        return partitions.get(key);
    }

    /** All of them, by model and group. */
    public List<Partition> all() {
        return partitions.values().stream()
                .sorted((a, b) -> PartitionKey.ORDER.compare(a.key(), b.key()))
                .toList();
    }

    /**
     * The partition, made if need be.
     *
     * @param blockSize unsigned
     * @throws BadRequestException if {@code blockSize} is 0
     * @throws ConflictException if it exists with another block size or another kind of hashes
     */
    public Partition ensure(PartitionKey key, int blockSize, boolean eagle) {
        if (blockSize == 0) {
            throw new BadRequestException("block_size", blockSize, ">= 1");
        }
        Partition present = partitions.get(key);
        if (present == null) {
            synchronized (creation) {
                present = partitions.get(key);
                if (present == null) {
                    present = make(key, blockSize, eagle);
                    partitions.put(key, present);
                }
            }
        }
        if (present.blockSize() != blockSize) {
            throw new ConflictException(
                    "partition",
                    key.toString(),
                    "block_size " + Integer.toUnsignedString(blockSize) + ", it has "
                            + Integer.toUnsignedString(present.blockSize()));
        }
        if (present.eagle() != eagle) {
            throw new ConflictException(
                    "partition", key.toString(), "is_eagle " + eagle + ", it has " + present.eagle());
        }
        return present;
    }

    /** Stops the partitions' clockwork and closes their session tables. */
    public void close() {
        partitions.values().forEach(Partition::close);
    }

    private Partition make(PartitionKey key, int blockSize, boolean eagle) {
        CacheTrust trust = new CacheTrust(key, core);
        PrefixIndex index = PrefixIndex.builder()
                .shards(core.config().index().shards())
                .defaultTraits(traits)
                // Not the core's generator: what is drawn for tables must not change what is chosen.
                .random(new SeededRandom(core.ticker().read() ^ core.clock().millis()))
                .observer(trust.indexObserver())
                .build();
        if (core.host().index() instanceof KvIndexSource.Owned owned) {
            owned.ingress().open(key, blockSize, index);
        }
        return new Partition(
                key,
                blockSize,
                eagle,
                core,
                new CacheView(key, blockSize, core, index, traits, trust),
                sessions(key),
                keyed.apply(key));
    }

    private @Nullable SessionAffinity sessions(PartitionKey key) {
        SessionConfig config = core.config().sessions();
        if (!config.sticky()) {
            return null;
        }
        SessionAffinity sessions = SessionAffinity.builder(
                        config.table(), core.ticker(), core.clock(), core.scheduler())
                .partition(key)
                .executor(core.afterwards()::run)
                .build();
        onSessions.accept(sessions);
        return sessions;
    }
}

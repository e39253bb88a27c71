package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which partitions have an index, and which worker feeds which. A worker belongs to one partition; a partition has one block size.
 *
 * <p>Thread-safe; a worker is registered and deregistered by one thread at a time, such as a reconciler's. The lock covers the maps only: feeds
 * are made and told outside it.
 */
public final class FeedRegistry {

    private static final Logger LOG = LoggerFactory.getLogger(FeedRegistry.class);

    /** Makes the feed of a new partition, with its index. */
    @FunctionalInterface
    public interface Factory {
        IndexFeed create(PartitionKey partition, int blockSize);
    }

    /** What becomes of a partition whose last worker left. */
    public enum WhenEmpty {
        /** Its index is dropped. */
        DROP,
        /** It is kept, as over a scale to zero. */
        RETAIN
    }

    private enum MadeBy {
        REGISTRATION,
        /** Its block size is what the dump says, and a worker that says otherwise is believed to be right about itself. */
        DUMP
    }

    private record Partition(IndexFeed feed, int blockSize, MadeBy madeBy, Set<WorkerRank> ranks) {}

    private final Factory factory;
    private final WhenEmpty whenEmpty;
    private final Object lock = new Object();
    private final Map<PartitionKey, Partition> partitions = new HashMap<>();
    private final Map<Long, PartitionKey> workers = new HashMap<>();

    public FeedRegistry(Factory factory, WhenEmpty whenEmpty) {
        this.factory = Objects.requireNonNull(factory, "factory");
        this.whenEmpty = Objects.requireNonNull(whenEmpty, "whenEmpty");
    }

    /**
     * Begins the stream of a rank, and makes its partition if it is the first.
     *
     * @throws ConflictException if the rank is registered, its worker belongs to another partition, or the partition has another block size
     *     (one that was made by a dump only warns)
     */
    public IndexFeed register(PartitionKey key, int blockSize, WorkerRank rank, FeedSource source, FeedOrigin origin) {
        requireNoOtherPartition(rank, key);
        Partition partition = open(key, blockSize, MadeBy.REGISTRATION);
        synchronized (lock) {
            if (partition.blockSize() != blockSize) {
                if (partition.madeBy() == MadeBy.REGISTRATION) {
                    throw new ConflictException(
                            "block size of partition",
                            key.toString(),
                            partition.blockSize() + " exists, " + blockSize + " requested");
                }
                LOG.warn(
                        "Partition {}: block size {} by its dump, {} by rank {}",
                        key,
                        partition.blockSize(),
                        blockSize,
                        rank);
            }
            if (!partition.ranks().add(rank)) {
                throw new ConflictException("rank", rank.toString(), "already registered");
            }
            workers.put(rank.workerId(), key);
        }
        partition.feed().register(rank, source, origin);
        return partition.feed();
    }

    private void requireNoOtherPartition(WorkerRank rank, PartitionKey key) {
        synchronized (lock) {
            PartitionKey other = workers.get(rank.workerId());
            if (other != null && !other.equals(key)) {
                throw new ConflictException(
                        "worker", Long.toUnsignedString(rank.workerId()), "already in partition " + other);
            }
        }
    }

    /** The feed of a partition that a dump names, made if there is none, before any worker of it is known. */
    public IndexFeed openFromDump(PartitionKey key, int blockSize) {
        return open(key, blockSize, MadeBy.DUMP).feed();
    }

    private Partition open(PartitionKey key, int blockSize, MadeBy madeBy) {
        Partition present = partition(key);
        if (present != null) {
            return present;
        }
        Partition made = new Partition(factory.create(key, blockSize), blockSize, madeBy, new HashSet<>());
        synchronized (lock) {
            present = partitions.putIfAbsent(key, made);
        }
        if (present != null) {
            made.feed().close();
            return present;
        }
        return made;
    }

    private @Nullable Partition partition(PartitionKey key) {
        synchronized (lock) {
            return partitions.get(key);
        }
    }

    /** Ends the stream of a rank; with the last rank the worker goes, with the last worker the partition. Unknown: nothing happens. */
    public void deregister(WorkerRank rank) {
        Partition partition;
        boolean workerGone;
        boolean empty;
        synchronized (lock) {
            PartitionKey key = workers.get(rank.workerId());
            partition = key == null ? null : partitions.get(key);
            if (partition == null || !partition.ranks().remove(rank)) {
                return;
            }
            workerGone = partition.ranks().stream().noneMatch(r -> r.workerId() == rank.workerId());
            empty = partition.ranks().isEmpty() && whenEmpty == WhenEmpty.DROP;
            if (workerGone) {
                workers.remove(rank.workerId());
            }
            if (empty) {
                partitions.remove(key);
            }
        }
        if (workerGone) {
            partition.feed().removeWorker(rank.workerId());
        } else {
            partition.feed().removeRank(rank);
        }
        if (empty) {
            partition.feed().close();
            partition.feed().index().close();
        }
    }

    /** The feed of a partition. */
    public Optional<IndexFeed> feed(PartitionKey key) {
        return Optional.ofNullable(partition(key)).map(Partition::feed);
    }

    /** Every partition with its feed. */
    public Map<PartitionKey, IndexFeed> feeds() {
        Map<PartitionKey, IndexFeed> feeds = new HashMap<>();
        synchronized (lock) {
            partitions.forEach((key, partition) -> feeds.put(key, partition.feed()));
        }
        return feeds;
    }
}

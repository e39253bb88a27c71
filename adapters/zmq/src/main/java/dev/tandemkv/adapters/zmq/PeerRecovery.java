package dev.tandemkv.adapters.zmq;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.dump.IndexDump;
import dev.tandemkv.indexer.event.RankCheckpoint;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What peers know of the ranks, and who waits for it. Ranks that are followed while peers are asked let their messages wait in their sockets.
 * Touched by the loop's thread alone.
 */
final class PeerRecovery {

    private static final Logger LOG = LoggerFactory.getLogger(PeerRecovery.class);

    private final SocketLoop loop;
    private final DumpPeers peers;
    private final List<Runnable> waiting = new ArrayList<>();
    /** Who is asked next, once whoever is asked now has answered or was given up. */
    private final Deque<DumpPeers> due = new ArrayDeque<>();

    private final Map<PartitionKey, Known> known = new HashMap<>();
    private @Nullable DumpFetch fetch;
    private boolean asking;
    private boolean closed;

    private record Known(int blockSize, Map<WorkerRank, RankCheckpoint> byRank) {}

    PeerRecovery(SocketLoop loop, DumpPeers peers) {
        this.loop = loop;
        this.peers = peers;
    }

    void start() {
        if (!peers.addresses().isEmpty()) {
            asking = true;
            loop.schedule(peers.delay(), () -> ask(peers));
        }
    }

    /** Asks one more peer, at once or behind those that were told before. What is known already is not replaced. */
    void join(DumpPeers one) {
        if (asking) {
            due.add(one);
        } else {
            asking = true;
            ask(one);
        }
    }

    private void ask(DumpPeers whom) {
        if (!closed) {
            DumpFetch asked = new DumpFetch(whom, loop, dump -> loop.execute(() -> arrived(whom, dump)));
            fetch = asked;
            asked.start();
        }
    }

    private void arrived(DumpPeers whom, IndexDump dump) {
        fetch = null;
        if (closed) {
            return;
        }
        dump.partitions().forEach(this::learn);
        loop.schedule(whom.keep(), () -> forget(dump));
        DumpPeers next = due.poll();
        if (next != null) {
            ask(next);
            return;
        }
        asking = false;
        List<Runnable> released = List.copyOf(waiting);
        waiting.clear();
        // Each for itself: one rank whose stream cannot begin is no reason for the others to wait for ever.
        released.forEach(loop::attempt);
    }

    private void learn(IndexDump.Partition partition) {
        Known ranks = known.computeIfAbsent(partition.key(), key -> new Known(partition.blockSize(), new HashMap<>()));
        if (ranks.blockSize() == partition.blockSize()) {
            partition
                    .ranks()
                    .forEach(each -> ranks.byRank().putIfAbsent(each.contents().rank(), each));
        } else {
            LOG.warn("Partition {}: peers' dumps differ in block size: the later is not used", partition.key());
        }
    }

    private void forget(IndexDump dump) {
        for (IndexDump.Partition partition : dump.partitions()) {
            Known ranks = known.get(partition.key());
            if (ranks != null) {
                partition
                        .ranks()
                        .forEach(each -> ranks.byRank().remove(each.contents().rank(), each));
                if (ranks.byRank().isEmpty()) {
                    known.remove(partition.key());
                }
            }
        }
    }

    /** Runs work now, or once the peers have been asked. */
    void whenReady(Runnable work) {
        if (asking) {
            waiting.add(work);
        } else {
            work.run();
        }
    }

    /** What a peer knew of a rank; each at most once. */
    Optional<RankCheckpoint> take(PartitionKey partition, int blockSize, WorkerRank rank) {
        Known ranks = known.get(partition);
        if (ranks == null) {
            return Optional.empty();
        }
        if (ranks.blockSize() != blockSize) {
            LOG.warn(
                    "Partition {}: a peer's dump has block size {}, not {}: not used",
                    partition,
                    ranks.blockSize(),
                    blockSize);
            known.remove(partition);
            return Optional.empty();
        }
        return Optional.ofNullable(ranks.byRank().remove(rank));
    }

    void close() {
        closed = true;
        due.clear();
        waiting.clear();
        known.clear();
        if (fetch != null) {
            fetch.cancel();
        }
    }
}

package dev.tandemkv.adapters.zmq;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.dump.IndexDump;
import dev.tandemkv.indexer.event.RankCheckpoint;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What peers know of the ranks, and who waits for it. Ranks that are followed meanwhile let their messages wait in their sockets. Touched by
 * the loop's thread alone.
 */
final class PeerRecovery {

    private static final Logger LOG = LoggerFactory.getLogger(PeerRecovery.class);

    private final SocketLoop loop;
    private final DumpPeers peers;
    private final List<Runnable> waiting = new ArrayList<>();
    private final Map<PartitionKey, Map<WorkerRank, RankCheckpoint>> known = new HashMap<>();
    private final Map<PartitionKey, Integer> blockSizes = new HashMap<>();
    private @Nullable DumpFetch fetch;
    private boolean ready;
    private boolean closed;

    PeerRecovery(SocketLoop loop, DumpPeers peers) {
        this.loop = loop;
        this.peers = peers;
    }

    void start() {
        if (peers.addresses().isEmpty()) {
            ready = true;
        } else {
            loop.schedule(peers.delay(), this::ask);
        }
    }

    private void ask() {
        if (!closed) {
            DumpFetch asked = new DumpFetch(peers, loop, dump -> loop.execute(() -> arrived(dump)));
            fetch = asked;
            asked.start();
        }
    }

    private void arrived(IndexDump dump) {
        fetch = null;
        if (closed) {
            return;
        }
        for (IndexDump.Partition partition : dump.partitions()) {
            Map<WorkerRank, RankCheckpoint> ranks = new HashMap<>();
            partition.ranks().forEach(each -> ranks.put(each.contents().rank(), each));
            known.put(partition.key(), ranks);
            blockSizes.put(partition.key(), partition.blockSize());
        }
        loop.schedule(peers.keep(), known::clear);
        ready = true;
        List<Runnable> due = List.copyOf(waiting);
        waiting.clear();
        // Each for itself: one rank whose stream cannot begin is no reason for the others to wait for ever.
        due.forEach(loop::attempt);
    }

    boolean isReady() {
        return ready;
    }

    /** Runs work now, or once the peers have been asked. */
    void whenReady(Runnable work) {
        if (ready) {
            work.run();
        } else {
            waiting.add(work);
        }
    }

    /** What a peer knew of a rank; each at most once. */
    Optional<RankCheckpoint> take(PartitionKey partition, int blockSize, WorkerRank rank) {
        Map<WorkerRank, RankCheckpoint> ranks = known.get(partition);
        Integer theirs = blockSizes.get(partition);
        if (ranks == null || theirs == null) {
            return Optional.empty();
        }
        if (theirs != blockSize) {
            LOG.warn("Partition {}: a peer's dump has block size {}, not {}: not used", partition, theirs, blockSize);
            known.remove(partition);
            return Optional.empty();
        }
        return Optional.ofNullable(ranks.remove(rank));
    }

    void close() {
        closed = true;
        waiting.clear();
        known.clear();
        if (fetch != null) {
            fetch.cancel();
        }
    }
}

package dev.tandemkv.benchmarks.index;

import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.adapters.zmq.EngineSockets;
import dev.tandemkv.adapters.zmq.EventSource;
import dev.tandemkv.adapters.zmq.ZmqKvEventIngress;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.IndexFeed;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Engines that publish over loopback TCP, and an index that follows them. */
public final class WireFleet implements AutoCloseable {

    private static final long LONGEST_WAIT_NANOS = 120_000_000_000L;

    private final PrefixIndex index;
    private final EngineSockets sockets = EngineSockets.start();
    private final List<EngineSockets.Publisher> publishers = new ArrayList<>();
    private final ZmqKvEventIngress ingress;
    private final IndexFeed feed;

    /**
     * @param ranks engines
     * @param blockTokens tokens per block
     * @param index follows them; closed with the fleet
     */
    public WireFleet(int ranks, int blockTokens, PrefixIndex index) {
        this.index = index;
        ingress = ZmqKvEventIngress.builder()
                .sources((spec, rank) -> EventSource.of(EngineFamily.SGLANG))
                .start();
        ingress.open(PartitionKey.DEFAULT, blockTokens, index);
        feed = ingress.feed(PartitionKey.DEFAULT).orElseThrow();
        for (int id = 0; id < ranks; id++) {
            EngineSockets.Publisher publisher = sockets.bind("tcp://127.0.0.1:*", null, (request, reply) -> {});
            publishers.add(publisher);
            ingress.reconcile(
                    null,
                    WorkerSpec.builder(id)
                            .blockSize(blockTokens)
                            .kvEventsEndpoint(publisher.endpoint())
                            .build());
        }
        await(() -> publishers.stream().allMatch(EngineSockets.Publisher::isHeard));
    }

    EngineSockets sockets() {
        return sockets;
    }

    EngineSockets.Publisher publisher(int rank) {
        return publishers.get(rank);
    }

    /** Has every engine publish a message. */
    public void publish(List<byte[]> message) {
        publish(message, 0, publishers.size());
    }

    /** Has some of the engines publish a message. */
    public void publish(List<byte[]> message, int fromRank, int toRank) {
        publishers.subList(fromRank, toRank).forEach(publisher -> publisher.publish(message));
    }

    /** Returns when every engine's message of a number is in the index. */
    public void awaitAll(long sequence) {
        await(() -> allAt(sequence));
    }

    private boolean allAt(long sequence) {
        for (int id = publishers.size() - 1; id >= 0; id--) {
            if (feed.status(WorkerRank.of(id)).orElseThrow().cursor().orElse(-1) != sequence) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns when something holds. Looks again ten times a millisecond: one that spins takes a CPU from those it waits for.
     *
     * @throws IllegalStateException after two minutes
     */
    public static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + LONGEST_WAIT_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException("waited in vain for two minutes");
            }
            LockSupport.parkNanos(100_000);
        }
    }

    @Override
    public void close() {
        ingress.close();
        sockets.close();
        index.close();
    }
}

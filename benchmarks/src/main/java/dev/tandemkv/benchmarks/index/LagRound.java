package dev.tandemkv.benchmarks.index;

import dev.tandemkv.adapters.enginewire.WireLimits;
import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.adapters.enginewire.neutral.EngineListener;
import dev.tandemkv.adapters.enginewire.neutral.NormalizerConfig;
import dev.tandemkv.adapters.zmq.EngineSockets;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * From an engine's send of one block until a find sees it, one block at a time, with a pause between them. Nobody spins: the clock is read by the
 * thread that sends and by the one that has applied, and whoever waits for both is parked. (A thread that spins takes one of two CPUs, and a wake-up
 * that lands there waits for the end of its time slice, milliseconds.)
 */
final class LagRound {

    private static final int WARM_UP = 1_500;
    private static final int MESSAGES = 3_000;
    private static final long PAUSE_NANOS = 300_000;

    private final int block;
    private final List<List<byte[]>> messages;
    private final long[][] locals = new long[WARM_UP + MESSAGES][1];
    private final Semaphore seen = new Semaphore(0);
    /** Read by the sockets' thread just before it sends. */
    private volatile long sent;
    /** Touched by the thread that applies. */
    private int applied;

    /** Read by the thread at the other end. */
    private volatile long arrived;

    LagRound(int block) {
        this.block = block;
        WireMessages source = new WireMessages(block, 1);
        messages = source.roots(locals.length);
        BlockHasher hasher = BlockHasher.ofBlockSize(block);
        for (int i = 0; i < locals.length; i++) {
            hasher.locals(source.tokens(i + 1L), block, HashScope.BASE, MultimodalObjects.NONE, locals[i]);
        }
    }

    /** Until a find on the thread that applied it sees the block. */
    Samples visible() throws InterruptedException {
        OverlapScores scores = OverlapScores.create();
        PrefixIndex[] index = new PrefixIndex[1];
        index[0] = PrefixIndex.builder()
                .observer((rank, event, outcome) -> {
                    index[0].find(locals[applied++], 1, scores);
                    if (scores.best() == 1) {
                        arrived = System.nanoTime();
                        seen.release();
                    }
                })
                .build();
        try (WireFleet fleet = new WireFleet(1, block, index[0])) {
            return sendEach(fleet.sockets(), fleet.publisher(0));
        }
    }

    /** Until a thread that waits in JeroMQ for the same message has it: what is below is not ours. */
    Samples jeromq() throws InterruptedException {
        try (EngineSockets sockets = EngineSockets.start();
                ZContext context = new ZContext()) {
            EngineSockets.Publisher publisher = sockets.bind("tcp://127.0.0.1:*", null, (request, reply) -> {});
            ZMQ.Socket socket = context.createSocket(SocketType.SUB);
            socket.connect(publisher.endpoint());
            socket.subscribe(new byte[0]);
            Thread receiver = new Thread(() -> receiveAll(socket), "wire-lag-receiver");
            receiver.setDaemon(true);
            receiver.start();
            WireFleet.await(publisher::isHeard);
            Samples samples = sendEach(sockets, publisher);
            receiver.join();
            return samples;
        }
    }

    private void receiveAll(ZMQ.Socket socket) {
        for (int i = 0; i < locals.length; i++) {
            do {
                socket.recv();
            } while (socket.hasReceiveMore());
            arrived = System.nanoTime();
            seen.release();
        }
    }

    private Samples sendEach(EngineSockets sockets, EngineSockets.Publisher publisher) throws InterruptedException {
        Samples samples = new Samples();
        for (int i = 0; i < locals.length; i++) {
            sockets.execute(() -> sent = System.nanoTime());
            publisher.publish(messages.get(i));
            seen.acquire();
            if (i >= WARM_UP) {
                samples.add(arrived - sent);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return samples;
    }

    /** What is ours: from the frames to a find that sees the block, on one thread. */
    Samples fromFrames() {
        WorkerRank rank = WorkerRank.of(0);
        EngineListener listener = new EngineListener(
                NormalizerConfig.of(rank, BlockHasher.ofBlockSize(block), EngineFamily.SGLANG),
                null,
                WireLimits.defaults());
        VirtualTime time = new VirtualTime();
        OverlapScores scores = OverlapScores.create();
        Samples samples = new Samples();
        try (PrefixIndex index = PrefixIndex.builder().build()) {
            IndexFeed feed = IndexFeed.builder(index, time, time).build();
            feed.register(rank, FeedSource.liveOnly());
            for (int i = 0; i < locals.length; i++) {
                long start = System.nanoTime();
                listener.live(messages.get(i)).ifPresent(feed::offer);
                index.find(locals[i], 1, scores);
                long elapsed = System.nanoTime() - start;
                if (scores.best() != 1) {
                    throw new IllegalStateException("message " + i + " is not in the index");
                }
                if (i >= WARM_UP) {
                    samples.add(elapsed);
                }
            }
        }
        return samples;
    }
}

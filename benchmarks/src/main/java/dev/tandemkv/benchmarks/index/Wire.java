package dev.tandemkv.benchmarks.index;

import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.adapters.zmq.EngineSockets;
import dev.tandemkv.adapters.zmq.EventSource;
import dev.tandemkv.adapters.zmq.ZmqKvEventIngress;
import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import dev.tandemkv.testkit.engine.wire.EngineEvent;
import dev.tandemkv.testkit.engine.wire.EngineHash;
import dev.tandemkv.testkit.engine.wire.EnginePublisher;
import dev.tandemkv.testkit.engine.wire.EngineTokens;
import dev.tandemkv.testkit.engine.wire.PublisherConfig;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Engines over loopback TCP, bytes encoded beforehand: how long until what they publish at full speed is in the index (socket, decoding,
 * hashing and applying), and how long one block takes from the publisher's call until a find sees it while nothing else goes on. Sender and
 * receiver share the machine.
 */
public final class Wire implements Workload {

    private static final int BLOCK = 16;
    private static final int PART = 32;
    private static final int BATCHES = 500;
    private static final int LAGS = 2_000;
    private static final int LAG_WARM_UP = 500;

    @Override
    public void measure(Run run, int repetitions) {
        for (int ranks : new int[] {1, 16, 64}) {
            List<List<byte[]>> messages = messages(BATCHES, PART);
            for (int i = -1; i < repetitions; i++) {
                Samples samples = new Samples();
                throughput(ranks, messages, samples);
                if (i >= 0) {
                    run.cell("wire", "ranks-" + ranks).add("apply", samples);
                }
            }
        }
        for (int i = 0; i < repetitions; i++) {
            Samples samples = new Samples();
            lag(samples);
            run.cell("wire", "idle").add("visible", samples);
        }
    }

    private static void throughput(int ranks, List<List<byte[]>> messages, Samples samples) {
        try (Fleet fleet = new Fleet(ranks)) {
            long start = System.nanoTime();
            for (List<byte[]> message : messages) {
                fleet.publishers.forEach(publisher -> publisher.publish(message));
            }
            await(() -> fleet.allAt(messages.size() - 1));
            samples.event(System.nanoTime() - start, (long) ranks * messages.size() * PART);
        }
    }

    private static void lag(Samples samples) {
        List<List<byte[]>> messages = messages(LAG_WARM_UP + LAGS, 1);
        BlockHasher hasher = BlockHasher.ofBlockSize(BLOCK);
        OverlapScores scores = OverlapScores.create();
        long[] local = new long[1];
        try (Fleet fleet = new Fleet(1)) {
            for (int i = 0; i < messages.size(); i++) {
                hasher.locals(tokens(i + 1L), BLOCK, HashScope.BASE, MultimodalObjects.NONE, local);
                long start = System.nanoTime();
                fleet.publishers.get(0).publish(messages.get(i));
                await(() -> {
                    fleet.index.find(local, 1, scores);
                    return scores.best() == 1;
                });
                if (i >= LAG_WARM_UP) {
                    samples.add(System.nanoTime() - start);
                }
            }
        }
    }

    /** One chain in parts, or single root blocks. */
    private static List<List<byte[]>> messages(int batches, int part) {
        EnginePublisher publisher = new EnginePublisher(PublisherConfig.of(WireDialect.SGLANG_0_5_22, 0));
        List<List<byte[]>> messages = new ArrayList<>();
        for (int i = 0; i < batches; i++) {
            long first = (long) i * part + 1;
            long[] hashes = LongStream.range(first, first + part).toArray();
            @Nullable EngineHash parent = i == 0 || part == 1 ? null : EngineHash.signed(first - 1);
            messages.add(publisher.publish(
                    i,
                    List.of(EngineEvent.Stored.of(
                            parent,
                            Arrays.stream(hashes).mapToObj(EngineHash::signed).toList(),
                            EngineTokens.of(Arrays.stream(hashes)
                                    .mapToObj(Wire::tokens)
                                    .flatMapToInt(Arrays::stream)
                                    .toArray()),
                            BLOCK))));
        }
        return messages;
    }

    private static int[] tokens(long hash) {
        int[] tokens = new int[BLOCK];
        for (int i = 0; i < BLOCK; i++) {
            tokens[i] = (int) (hash * 31 + i) & 0x1ffff;
        }
        return tokens;
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }

    /** Publishers, and an index that follows them. */
    private static final class Fleet implements AutoCloseable {
        final PrefixIndex index = PrefixIndex.builder().build();
        final EngineSockets sockets = EngineSockets.start();
        final List<EngineSockets.Publisher> publishers = new ArrayList<>();
        final ZmqKvEventIngress ingress;
        final IndexFeed feed;

        Fleet(int ranks) {
            ingress = ZmqKvEventIngress.builder()
                    .sources((spec, rank) -> EventSource.of(EngineFamily.SGLANG))
                    .start();
            ingress.open(PartitionKey.DEFAULT, BLOCK, index);
            feed = ingress.feed(PartitionKey.DEFAULT).orElseThrow();
            for (int id = 0; id < ranks; id++) {
                EngineSockets.Publisher publisher = sockets.bind("tcp://127.0.0.1:*", null, (request, reply) -> {});
                publishers.add(publisher);
                ingress.reconcile(
                        null,
                        WorkerSpec.builder(id)
                                .blockSize(BLOCK)
                                .kvEventsEndpoint(publisher.endpoint())
                                .build());
            }
            await(() -> publishers.stream().allMatch(EngineSockets.Publisher::isHeard));
        }

        boolean allAt(long sequence) {
            for (int id = publishers.size() - 1; id >= 0; id--) {
                if (feed.status(WorkerRank.of(id)).orElseThrow().cursor().orElse(-1) != sequence) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public void close() {
            ingress.close();
            sockets.close();
            index.close();
        }
    }
}

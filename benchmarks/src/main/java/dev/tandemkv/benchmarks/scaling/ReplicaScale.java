package dev.tandemkv.benchmarks.scaling;

import dev.tandemkv.adapters.zmq.SocketLoop;
import dev.tandemkv.adapters.zmq.mesh.MeshSettings;
import dev.tandemkv.adapters.zmq.mesh.MeshStats;
import dev.tandemkv.adapters.zmq.mesh.ReplicaMesh;
import dev.tandemkv.benchmarks.index.PeerHashes;
import dev.tandemkv.benchmarks.index.WireFleet;
import dev.tandemkv.benchmarks.report.Spent;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.ReplicaChannel;
import dev.tandemkv.selection.host.Replication;
import dev.tandemkv.selection.host.SelectionHost;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Gateways over loopback with the real mesh and its codec: what one booking costs on the wire and at both ends. */
final class ReplicaScale {

    private static final int WORKERS = 64;
    /** Prompts are counted in blocks here, so their size does not matter. */
    private static final int BLOCK_TOKENS = 64;

    /** Told between two looks at whether they have arrived. */
    private static final int BURST = 100;

    private static final int MESSAGES = 3;
    private static final int FAN_OUT_MESSAGES = 5_000;

    private ReplicaScale() {}

    /** A gateway whose socket thread has a name of its own. */
    private static final class Gateway implements AutoCloseable {
        final SocketLoop loop;
        final ReplicaMesh mesh;
        final AtomicLong applied = new AtomicLong();
        final SelectionCore core;

        Gateway(String name, boolean trackBlocks) {
            loop = loop(name);
            mesh = ReplicaMesh.builder(MeshSettings.at("tcp://127.0.0.1:*"))
                    .loop(loop)
                    .start();
            core = SelectionCore.builder()
                    .config(SelectionConfig.builder()
                            .replicaSync(true)
                            .trackActiveBlocks(trackBlocks)
                            .build())
                    .host(SelectionHost.builder()
                            .replication(Replication.over(mesh)
                                    .withObserver((partition, queued, count) -> applied.addAndGet(count)))
                            .build())
                    .scheduler(loop)
                    .random(new SeededRandom(42))
                    .build();
            for (int w = 1; w <= WORKERS; w++) {
                core.upsert(WorkerSpec.builder(w)
                        .endpoint("http://worker-" + w + ":8000")
                        .blockSize(BLOCK_TOKENS)
                        .build());
            }
        }

        @Override
        public void close() {
            core.close();
            mesh.close();
            loop.close();
        }
    }

    private static SocketLoop loop(String name) {
        return SocketLoop.builder()
                .threads(work -> {
                    Thread thread = new Thread(work, name);
                    thread.setDaemon(true);
                    return thread;
                })
                .start();
    }

    static ReplicaPoint measure(int blocks, boolean trackBlocks, int bookings) {
        long[] locals = PeerHashes.stream(1, blocks);
        Prompt prompt = Prompt.ofHashes(locals, PeerHashes.chain(locals), (long) blocks * BLOCK_TOKENS);
        try (Gateway sender = new Gateway("scaling-sender", trackBlocks);
                Gateway receiver = new Gateway("scaling-receiver", trackBlocks)) {
            receiver.core.registerPeer(sender.mesh.endpoint());
            WireFleet.await(() -> sender.mesh.stats().joined() >= 2);
            tell(sender, receiver, prompt, bookings);
            MeshStats before = sender.mesh.stats();
            Spent atSender = Spent.by("scaling-sender"::equals);
            Spent atReceiver = Spent.by("scaling-receiver"::equals);
            tell(sender, receiver, prompt, bookings);
            MeshStats after = sender.mesh.stats();
            if (after.dropped() + after.congested() > 0) {
                throw new IllegalStateException("messages were dropped: " + after);
            }
            return new ReplicaPoint(
                    blocks,
                    trackBlocks,
                    (double) (after.sent() - before.sent()) / bookings,
                    (double) (after.sentBytes() - before.sentBytes()) / bookings,
                    (double) Spent.by("scaling-sender"::equals).since(atSender).cpuNanos() / bookings,
                    (double) Spent.by("scaling-receiver"::equals)
                                    .since(atReceiver)
                                    .cpuNanos()
                            / bookings);
        }
    }

    /** Paced by what the other has counted, a hundred bookings at a time: a queue that overflows would be measured otherwise. */
    private static void tell(Gateway sender, Gateway receiver, Prompt prompt, int bookings) {
        for (int i = 0; i < bookings; i += BURST) {
            long from = receiver.applied.get();
            for (int j = 0; j < BURST; j++) {
                Booking booking = sender.core
                        .selectAndReserve(SelectRequest.builder(prompt)
                                .selectionId("request-" + i + '-' + j)
                                .build())
                        .toCompletableFuture()
                        .join();
                sender.core.prefillComplete(booking).toCompletableFuture().join();
                booking.close();
            }
            WireFleet.await(() -> receiver.applied.get() - from >= (long) BURST * MESSAGES);
        }
    }

    static FanOutPoint fanOut(int peers) {
        SocketLoop sendersLoop = loop("scaling-sender");
        SocketLoop receiversLoop = loop("scaling-receivers");
        List<ReplicaMesh> receivers = new ArrayList<>();
        AtomicLong arrived = new AtomicLong();
        try (ReplicaMesh sender = mesh(sendersLoop)) {
            for (int p = 0; p < peers; p++) {
                ReplicaMesh receiver = mesh(receiversLoop);
                receiver.subscribe(ReplicaChannel.BOOKINGS, payload -> arrived.incrementAndGet());
                receiver.peers().orElseThrow().register(sender.endpoint());
                receivers.add(receiver);
            }
            WireFleet.await(() -> sender.stats().joined() >= peers);
            publish(sender, arrived, peers);
            long before = arrived.get();
            Spent spent = Spent.by("scaling-sender"::equals);
            publish(sender, arrived, peers);
            double nanos = Spent.by("scaling-sender"::equals).since(spent).cpuNanos();
            return new FanOutPoint(
                    peers, (double) (arrived.get() - before) / FAN_OUT_MESSAGES, nanos / FAN_OUT_MESSAGES);
        } finally {
            receivers.forEach(ReplicaMesh::close);
            sendersLoop.close();
            receiversLoop.close();
        }
    }

    private static ReplicaMesh mesh(SocketLoop loop) {
        return ReplicaMesh.builder(MeshSettings.at("tcp://127.0.0.1:*"))
                .loop(loop)
                .start();
    }

    private static void publish(ReplicaMesh sender, AtomicLong arrived, int peers) {
        for (int i = 0; i < FAN_OUT_MESSAGES; i += BURST) {
            long from = arrived.get();
            for (int j = 0; j < BURST; j++) {
                sender.publish(ReplicaChannel.BOOKINGS, new byte[600]);
            }
            WireFleet.await(() -> arrived.get() - from >= (long) BURST * peers);
        }
    }
}

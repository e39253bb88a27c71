package dev.tandemkv.benchmarks.selection;

import dev.tandemkv.adapters.zmq.SocketLoop;
import dev.tandemkv.adapters.zmq.mesh.MeshSettings;
import dev.tandemkv.adapters.zmq.mesh.MeshStats;
import dev.tandemkv.adapters.zmq.mesh.ReplicaMesh;
import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.index.PeerHashes;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.Replication;
import dev.tandemkv.selection.host.SelectionHost;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * Two gateways over loopback, 64 workers: what telling a booking costs its caller, how many messages and bytes it takes, how long until
 * the other has counted it, and how many a second both bear. {@code alone} is the same core without replicas.
 */
public final class Replicated implements Workload {

    private static final int WORKERS = 64;
    private static final int BLOCK = 16;
    private static final int WARM_UP = 10_000;
    private static final int ITERATIONS = 5_000;
    private static final int LAGS = 500;
    private static final int BURST = 20_000;

    /** A core with everything it runs on. */
    private static final class Gateway implements AutoCloseable {
        final SocketLoop loop = SocketLoop.builder().start();
        final ReplicaMesh mesh = ReplicaMesh.builder(MeshSettings.at("tcp://127.0.0.1:*"))
                .loop(loop)
                .start();
        final AtomicLong applied = new AtomicLong();
        final SelectionCore core;

        Gateway(boolean replicated) {
            core = SelectionCore.builder()
                    .config(SelectionConfig.builder().replicaSync(replicated).build())
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
                        .blockSize(BLOCK)
                        .build());
            }
        }

        Booking book(Prompt prompt, String id) {
            return core.selectAndReserve(
                            SelectRequest.builder(prompt).selectionId(id).build())
                    .toCompletableFuture()
                    .join();
        }

        @Override
        public void close() {
            core.close();
            mesh.close();
            loop.close();
        }
    }

    @Override
    public void measure(Run run, int repetitions) {
        for (int blocks : new int[] {16, 256, 2_048}) {
            long[] locals = new long[blocks];
            for (int b = 0; b < blocks; b++) {
                locals[b] = PeerHashes.traceBlock(b, 0);
            }
            Prompt prompt = Prompt.ofHashes(locals, PeerHashes.chain(locals), (long) blocks * BLOCK);
            Run.Cell cell = run.cell("replicas", "blocks=" + blocks);
            for (int r = 0; r < repetitions; r++) {
                try (Gateway alone = new Gateway(false)) {
                    cell.add("alone", reserveAndFree(alone, prompt, 0));
                }
                try (Gateway a = new Gateway(true);
                        Gateway b = new Gateway(true)) {
                    a.core.registerPeer(b.mesh.endpoint());
                    b.core.registerPeer(a.mesh.endpoint());
                    spin(() -> a.mesh.stats().joined() > 1 && b.mesh.stats().joined() > 1);
                    pair(cell, prompt, a, b);
                }
            }
        }
    }

    private static void pair(Run.Cell cell, Prompt prompt, Gateway a, Gateway b) {
        MeshStats before = a.mesh.stats();
        long heard = b.applied.get();
        // Paced, so that what is measured is the telling and not a queue that overflows.
        cell.add("told", reserveAndFree(a, prompt, 20_000));
        int bookings = WARM_UP + ITERATIONS;
        spin(() -> b.applied.get() - heard >= 2L * bookings);
        MeshStats after = a.mesh.stats();
        cell.add("wire", "messages_per_booking", (double) (after.sent() - before.sent()) / bookings);
        cell.add("wire", "bytes_per_booking", (double) (after.sentBytes() - before.sentBytes()) / bookings);

        Samples lag = new Samples();
        for (int i = 0; i < LAGS; i++) {
            long seen = b.applied.get();
            long start = System.nanoTime();
            Booking booking = a.book(prompt, "lag" + i);
            spin(() -> b.applied.get() > seen);
            lag.add(System.nanoTime() - start);
            booking.close();
            spin(() -> b.applied.get() > seen + 1);
        }
        cell.add("lag", lag);

        long seen = b.applied.get();
        long dropped = a.mesh.stats().dropped();
        long start = System.nanoTime();
        for (int i = 0; i < BURST; i++) {
            a.book(prompt, "burst" + i).close();
        }
        spin(() -> b.applied.get() - seen >= 2L * BURST - (a.mesh.stats().dropped() - dropped));
        cell.add("burst", "bookings_per_second", BURST * 1e9 / (System.nanoTime() - start));
        cell.add("burst", "dropped", (double) (a.mesh.stats().dropped() - dropped));
    }

    private static Samples reserveAndFree(Gateway at, Prompt prompt, long paceNanos) {
        Samples samples = new Samples();
        for (int i = -WARM_UP; i < ITERATIONS; i++) {
            long start = System.nanoTime();
            at.book(prompt, "r" + i).close();
            long elapsed = System.nanoTime() - start;
            if (i >= 0) {
                samples.add(elapsed);
            }
            if (paceNanos > 0) {
                long until = start + elapsed + paceNanos;
                spin(() -> System.nanoTime() - until >= 0);
            }
        }
        return samples;
    }

    private static void spin(BooleanSupplier until) {
        while (!until.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }
}

package dev.tandemkv.benchmarks.selection;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.index.PeerHashes;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.benchmarks.selection.ReplicaLink.Sent;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.Replication;
import dev.tandemkv.selection.host.SelectionHost;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Two gateways over loopback, 64 workers: what telling a booking costs its caller and everybody else, how many messages and bytes it takes,
 * how long until the other has counted it, and how many a second both bear. {@code alone} is the same core without replicas.
 */
public final class Replicated implements Workload {

    private static final int WORKERS = 64;
    private static final int BLOCK = 16;
    private static final int WARM_UP = 10_000;
    private static final int ITERATIONS = 5_000;
    private static final int LAGS = 500;
    private static final int BURST = 20_000;

    /** Bytes that left through loopback, with everything that TCP and IP add: Linux counts them. */
    private static final Path INTERFACES = Path.of("/proc/net/dev");

    private static final int BYTES_OUT = 9;

    private final String name;
    private final Supplier<ReplicaLink.Pair> links;

    private Replicated(String name, Supplier<ReplicaLink.Pair> links) {
        this.name = name;
        this.links = links;
    }

    /** Over the ZeroMQ mesh. */
    public static Replicated mesh() {
        return new Replicated("replicas", MeshLink::pair);
    }

    /** Over a JGroups group that is open. */
    public static Replicated group() {
        return new Replicated("jgroups", GroupLink::openPair);
    }

    /** Over a JGroups group with mutual TLS. */
    public static Replicated securedGroup() {
        return new Replicated("jgroups-tls", GroupLink::securedPair);
    }

    /** A core with everything it runs on. */
    private static final class Gateway implements AutoCloseable {
        final ReplicaLink link;
        final AtomicLong applied = new AtomicLong();
        final SelectionCore core;

        Gateway(ReplicaLink link, boolean replicated) {
            this.link = link;
            core = SelectionCore.builder()
                    .config(SelectionConfig.builder().replicaSync(replicated).build())
                    .host(SelectionHost.builder()
                            .replication(Replication.over(link.channel())
                                    .withObserver((partition, queued, count) -> applied.addAndGet(count)))
                            .build())
                    .scheduler(link.scheduler())
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
            link.close();
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
            Run.Cell cell = run.cell(name, "blocks=" + blocks);
            for (int r = 0; r < repetitions; r++) {
                ReplicaLink.Pair single = links.get();
                try (Gateway alone = new Gateway(single.first(), false)) {
                    cell.add("alone", reserveAndFree(alone, prompt, 0));
                } finally {
                    single.second().close();
                }
                ReplicaLink.Pair pair = links.get();
                try (Gateway a = new Gateway(pair.first(), true);
                        Gateway b = new Gateway(pair.second(), true)) {
                    spin(() -> a.link.heardBy() > 1 && b.link.heardBy() > 1);
                    pair(cell, prompt, a, b);
                }
            }
        }
    }

    private static void pair(Run.Cell cell, Prompt prompt, Gateway a, Gateway b) {
        Sent before = a.link.sent();
        long heard = b.applied.get();
        long loopback = loopbackBytes();
        long others = othersNanos();
        // Paced, so that what is measured is the telling and not a queue that overflows.
        cell.add("told", reserveAndFree(a, prompt, 20_000));
        int bookings = WARM_UP + ITERATIONS;
        spin(() -> b.applied.get() - heard >= 2L * bookings);
        Sent told = a.link.sent().minus(before);
        cell.add("wire", "messages_per_booking", (double) told.messages() / bookings);
        cell.add("wire", "bytes_per_booking", (double) told.bytes() / bookings);
        cell.add("wire", "loopback_bytes_per_booking", (double) (loopbackBytes() - loopback) / bookings);
        cell.add("cpu", "others_us_per_booking", (othersNanos() - others) / 1e3 / bookings);

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
        Sent calm = a.link.sent();
        long start = System.nanoTime();
        for (int i = 0; i < BURST; i++) {
            a.book(prompt, "burst" + i).close();
        }
        spin(() ->
                b.applied.get() - seen >= 2L * BURST - a.link.sent().minus(calm).dropped());
        cell.add("burst", "bookings_per_second", BURST * 1e9 / (System.nanoTime() - start));
        cell.add("burst", "dropped", (double) a.link.sent().minus(calm).dropped());
    }

    /** What all threads but this one have computed: this one spins while it waits. */
    private static long othersNanos() {
        long all =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
        return all - ManagementFactory.getPlatformMXBean(ThreadMXBean.class).getCurrentThreadCpuTime();
    }

    private static long loopbackBytes() {
        try {
            for (String line : Files.readAllLines(INTERFACES)) {
                String[] fields = line.trim().split("\\s+", -1);
                if (fields[0].equals("lo:")) {
                    return Long.parseLong(fields[BYTES_OUT]);
                }
            }
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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

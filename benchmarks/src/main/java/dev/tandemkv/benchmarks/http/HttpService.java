package dev.tandemkv.benchmarks.http;

import dev.tandemkv.adapters.http.SelectionService;
import dev.tandemkv.benchmarks.Workload;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.benchmarks.report.Spent;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionCore;
import io.vertx.core.Vertx;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * W-HTTP: {@code POST /select} over one kept loopback connection, request after request, with bodies of 2 kB and 200 kB, on 64 workers; beside
 * it the same decision in process, so that the difference is what HTTP adds. CPU time and allocation are the event loop's, per exchange.
 */
public final class HttpService implements Workload {

    private static final int WORKERS = 64;
    private static final int BLOCK = 16;
    private static final int WARM_UP = 3_000;
    private static final int ITERATIONS = 2_000;

    @Override
    public void measure(Run run, int repetitions) throws Exception {
        for (int bodyBytes : new int[] {2_000, 200_000}) {
            Run.Cell cell = run.cell("http", "select " + bodyBytes + " B");
            for (int r = 0; r < repetitions; r++) {
                measure(cell, bodyBytes);
            }
        }
    }

    private static void measure(Run.Cell cell, int bodyBytes) throws Exception {
        VirtualTime time = new VirtualTime();
        Vertx vertx = Vertx.vertx();
        try (SelectionCore core = SelectionCore.builder()
                .scheduler(time)
                .random(new SeededRandom(42))
                .build()) {
            for (int w = 1; w <= WORKERS; w++) {
                core.upsert(WorkerSpec.builder(w)
                        .endpoint("http://worker-" + w + ":8000")
                        .blockSize(BLOCK)
                        .maxNumBatchedTokens(8_192L)
                        .build());
            }
            // Token ids of five digits and a comma: six bytes each.
            int[] tokens = IntStream.range(10_000, 10_000 + bodyBytes / 6)
                    .map(id -> 10_000 + id % 90_000)
                    .toArray();
            inProcess(cell, core, tokens);
            SelectionService service = SelectionService.builder(core, time)
                    .port(0)
                    .start(vertx)
                    .toCompletableFuture()
                    .join();
            overHttp(cell, service.port(), tokens);
            service.shutdown().toCompletableFuture().join();
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    private static void inProcess(Run.Cell cell, SelectionCore core, int[] tokens) {
        SelectRequest request = SelectRequest.builder(Prompt.ofTokens(tokens)).build();
        Samples samples = new Samples();
        for (int i = -WARM_UP; i < ITERATIONS; i++) {
            long start = System.nanoTime();
            core.select(request).toCompletableFuture().join();
            long elapsed = System.nanoTime() - start;
            if (i >= 0) {
                samples.add(elapsed);
            }
        }
        cell.add("in_process", samples);
    }

    private static void overHttp(Run.Cell cell, int port, int[] tokens) throws IOException {
        String ids = IntStream.of(tokens).mapToObj(Integer::toString).collect(Collectors.joining(","));
        byte[] body = ("{\"token_ids\":[" + ids + "]}").getBytes(StandardCharsets.US_ASCII);
        byte[] head = ("POST /select HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: "
                        + body.length + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        byte[] request = new byte[head.length + body.length];
        System.arraycopy(head, 0, request, 0, head.length);
        System.arraycopy(body, 0, request, head.length, body.length);
        Samples samples = new Samples();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            Spent before = byEventLoops();
            long began = System.nanoTime();
            for (int i = -WARM_UP; i < ITERATIONS; i++) {
                if (i == 0) {
                    before = byEventLoops();
                    began = System.nanoTime();
                }
                long start = System.nanoTime();
                socket.getOutputStream().write(request);
                readAnswer(in);
                long elapsed = System.nanoTime() - start;
                if (i >= 0) {
                    samples.add(elapsed);
                }
            }
            double seconds = (System.nanoTime() - began) / 1e9;
            Spent spent = byEventLoops().since(before);
            cell.add("over_http", samples);
            cell.add("over_http", "selections_per_second", ITERATIONS / seconds);
            cell.add("over_http", "event_loop_cpu_ns", (double) spent.cpuNanos() / ITERATIONS);
            cell.add("over_http", "event_loop_allocated_bytes", (double) spent.allocatedBytes() / ITERATIONS);
        }
    }

    private static void readAnswer(DataInputStream in) throws IOException {
        int length = 0;
        StringBuilder line = new StringBuilder();
        while (true) {
            int c = in.read();
            if (c < 0) {
                throw new IOException("the service closed the connection");
            }
            if (c != '\n') {
                line.append((char) c);
                continue;
            }
            String header = line.toString().trim();
            line.setLength(0);
            if (header.isEmpty()) {
                break;
            }
            if (header.startsWith("HTTP/") && !header.contains(" 200 ")) {
                throw new IOException("answer: " + header);
            }
            if (header.startsWith("content-length:")) {
                length = Integer.parseInt(
                        header.substring(header.indexOf(':') + 1).trim());
            }
        }
        in.skipNBytes(length);
    }

    private static Spent byEventLoops() {
        return Spent.by(thread -> thread.startsWith("vert.x-eventloop"));
    }
}

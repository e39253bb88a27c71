package dev.tandemkv.benchmarks;

import dev.tandemkv.benchmarks.gateway.Gateway;
import dev.tandemkv.benchmarks.http.HttpService;
import dev.tandemkv.benchmarks.index.Churn;
import dev.tandemkv.benchmarks.index.Decode;
import dev.tandemkv.benchmarks.index.Evict;
import dev.tandemkv.benchmarks.index.Hashing;
import dev.tandemkv.benchmarks.index.Hot;
import dev.tandemkv.benchmarks.index.LongPrompts;
import dev.tandemkv.benchmarks.index.Micro;
import dev.tandemkv.benchmarks.index.TraceReplay;
import dev.tandemkv.benchmarks.index.Wire;
import dev.tandemkv.benchmarks.index.WireLag;
import dev.tandemkv.benchmarks.report.Run;
import dev.tandemkv.benchmarks.selection.Book;
import dev.tandemkv.benchmarks.selection.Core;
import dev.tandemkv.benchmarks.selection.Replicated;
import dev.tandemkv.benchmarks.selection.Selector;
import dev.tandemkv.testkit.trace.ToolagentLike;
import dev.tandemkv.testkit.trace.Trace;
import dev.tandemkv.testkit.trace.TraceReader;
import dev.tandemkv.testkit.trace.TraceRequest;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Measures this library alone; {@code benchmarks/run} starts it. */
public final class Bench {

    private static final long TOOLAGENT_SEED = 42;

    private Path traces = Path.of("../shared/traces");
    private List<String> workloads = List.of();
    private int repetitions = 5;
    private @Nullable Path json;
    private @Nullable Path toolagentFile;

    private Bench() {}

    public static void main(String[] args) throws Exception {
        Bench bench = new Bench();
        bench.parse(args);
        if (bench.toolagentFile != null) {
            bench.writeToolagentLike(bench.toolagentFile);
            return;
        }
        Run run = new Run();
        Calibration.measure(run);
        for (String name : bench.workloads) {
            bench.workload(name).measure(run, bench.repetitions);
        }
        run.print();
        if (bench.json != null) {
            run.write(bench.json);
        }
    }

    private void parse(String[] args) {
        workloads = List.copyOf(available().keySet());
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--traces" -> traces = Path.of(args[++i]);
                case "--workload" -> workloads = Arrays.asList(args[++i].split(","));
                case "--reps" -> repetitions = Integer.parseInt(args[++i]);
                case "--json" -> json = Path.of(args[++i]);
                case "--write-toolagent-like" -> toolagentFile = Path.of(args[++i]);
                default -> {
                    System.err.println("unknown option " + args[i] + "; workloads: "
                            + available().keySet());
                    System.exit(2);
                }
            }
        }
    }

    private Workload workload(String name) throws Exception {
        Callable<Workload> maker = available().get(name);
        if (maker == null) {
            throw new IllegalArgumentException(
                    "workload: " + name + " (expected: one of " + available().keySet() + ')');
        }
        return maker.call();
    }

    private Map<String, Callable<Workload>> available() {
        Map<String, Callable<Workload>> all = new LinkedHashMap<>();
        all.put("conv-f8", () -> new TraceReplay("conv-f8", conversation(), 16, 128));
        all.put("syn-f8", () -> new TraceReplay("syn-f8", synthetic(), 16, 128));
        all.put("tool-f8", () -> new TraceReplay("tool-f8", toolagentLike(), 16, 128));
        all.put("churn", () -> new Churn(conversation()));
        all.put("hot", Hot::new);
        all.put("long", LongPrompts::new);
        all.put("evict-rev", Evict::new);
        all.put("decode", Decode::new);
        all.put("micro", Micro::new);
        all.put("memory", () -> (run, reps) -> {
            new TraceReplay("conv-f8", conversation(), 16, 128).memory().measure(run, reps);
            new TraceReplay("syn-f8", synthetic(), 16, 128).memory().measure(run, reps);
            new Churn(conversation()).memory().measure(run, reps);
        });
        all.put("hashing", Hashing::new);
        all.put("sel", Selector::new);
        all.put("core", Core::new);
        all.put("http", HttpService::new);
        all.put("gateway", Gateway::new);
        all.put("book", () -> new Book(conversation()));
        all.put("replicas", Replicated::mesh);
        all.put("jgroups", Replicated::group);
        all.put("jgroups-tls", Replicated::securedGroup);
        all.put("wire", Wire::new);
        all.put("wire-lag", WireLag::new);
        return all;
    }

    private Trace conversation() throws IOException {
        return TraceReader.read(traces.resolve("mooncake_fast25_conversation_trace.jsonl.gz"));
    }

    private Trace synthetic() throws IOException {
        return TraceReader.read(traces.resolve("mooncake_fast25_synthetic_trace.jsonl.gz"));
    }

    private Trace toolagentLike() throws IOException {
        return ToolagentLike.generate(conversation(), TOOLAGENT_SEED);
    }

    /** The generated trace in Mooncake's format, for the other harness. */
    private void writeToolagentLike(Path file) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            for (TraceRequest request : toolagentLike().requests()) {
                String ids = Arrays.stream(request.blockIds())
                        .mapToObj(Long::toString)
                        .collect(Collectors.joining(", "));
                out.write("{\"timestamp\": " + request.arrivalNanos() / 1_000_000 + ", \"input_length\": "
                        + request.inputTokens() + ", \"output_length\": " + request.outputTokens() + ", \"hash_ids\": ["
                        + ids + "]}\n");
            }
        }
    }
}

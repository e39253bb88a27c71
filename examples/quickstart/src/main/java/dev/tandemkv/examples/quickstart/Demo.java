package dev.tandemkv.examples.quickstart;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.selection.policy.SelectionPolicy;
import dev.tandemkv.testkit.engine.EngineModel;
import dev.tandemkv.testkit.report.Comparison;
import dev.tandemkv.testkit.report.HtmlReport;
import dev.tandemkv.testkit.report.NamedResult;
import dev.tandemkv.testkit.report.ReportContent;
import dev.tandemkv.testkit.report.ReportContent.ExplainedDecision;
import dev.tandemkv.testkit.sim.CorePool;
import dev.tandemkv.testkit.sim.EngineSetup;
import dev.tandemkv.testkit.sim.SimulatedPool;
import dev.tandemkv.testkit.sim.Simulation;
import dev.tandemkv.testkit.sim.SimulationResult;
import dev.tandemkv.testkit.sim.Topology;
import dev.tandemkv.testkit.sim.Workload;
import dev.tandemkv.testkit.trace.Trace;
import dev.tandemkv.testkit.trace.TraceFormat;
import dev.tandemkv.testkit.trace.TraceReader;
import dev.tandemkv.testkit.trace.TraceStatistics;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One demonstration, from the trace to the reports. Results go to {@code out}, progress to {@code err}. */
final class Demo {

    private static final String SHIPPED = "mooncake_conversation_first_1000.jsonl.gz";

    /** Requests that are replayed once beforehand, so that the times measured are not those of a cold JVM. */
    private static final int WARM_UP_REQUESTS = 1_000;

    /** Where a trace knows no blocks, and the size that {@code --cache-blocks} counts in. */
    private static final int BLOCK_TOKENS = EngineModel.L70_TP4.blockTokens();

    /**
     * What the command line asked for.
     *
     * @param trace file, or {@code null} for the one that ships
     * @param cacheBlocks per worker, in blocks of 512 tokens
     * @param rate speed of arrivals
     * @param workers size of the fleet
     * @param seed for ties
     */
    record Settings(@Nullable Path trace, int cacheBlocks, double rate, int workers, long seed) {}

    private final Settings settings;
    private final PrintWriter out;
    private final PrintWriter err;
    private final Ticker ticker = Ticker.system();

    Demo(Settings settings, PrintWriter out, PrintWriter err) {
        this.settings = settings;
        this.out = out;
        this.err = err;
    }

    /** Reads, replays, and only then writes: a trace that is bad leaves no report. */
    void run(Path report, @Nullable Path json) throws IOException {
        OutputFile.requireDirectory(report);
        if (json != null) {
            OutputFile.requireDirectory(json);
        }
        Trace trace = read();
        Workload workload = Workload.of(trace);
        TraceStatistics statistics = TraceStatistics.of(trace, workload.tree());
        List<String> facts = facts(trace, statistics);
        facts.forEach(out::println);
        out.println();

        List<TimedRun> runs = replay(workload);
        List<NamedResult> results = runs.stream().map(TimedRun::named).toList();
        out.print(Comparison.of(results).toText());
        out.println("TTFT and TPOT in virtual ms, transferred in tokens; open: bookings left at the end");
        printRefusals(results);
        out.println();

        ExplainedDecision decision = explain(workload);
        if (decision != null) {
            out.println(decision.caption());
            out.println();
            out.print(decision.candidates().toText());
            out.println();
        }

        String title = "Tandem KV: routing policies on " + trace.name();
        OutputFile.write(report, HtmlReport.render(new ReportContent(title, facts, results, decision)));
        out.println("Report: " + report.toAbsolutePath().normalize());
        if (json != null) {
            OutputFile.write(json, JsonResults.of(trace, statistics, settings.seed, runs));
            out.println("JSON: " + json.toAbsolutePath().normalize());
        }
    }

    private Trace read() throws IOException {
        Path file = settings.trace;
        err.println("reading " + (file == null ? "the trace that ships with the demo" : file));
        Trace trace = file == null ? readShipped() : TraceReader.read(file);
        if (trace.blockTokens() == 0) {
            err.println("this trace knows no blocks: every prompt gets blocks of its own, and nothing can be reused");
            trace = trace.withPrivateBlocks(BLOCK_TOKENS);
        }
        return trace.atRate(settings.rate);
    }

    private static Trace readShipped() throws IOException {
        try (InputStream in = Demo.class.getResourceAsStream(SHIPPED)) {
            if (in == null) {
                throw new IllegalStateException("resource " + SHIPPED + " is missing");
            }
            return TraceReader.read(SHIPPED, TraceFormat.MOONCAKE, in).named("mooncake_conversation_first_1000");
        }
    }

    private List<String> facts(Trace trace, TraceStatistics statistics) {
        EngineSetup engines = engines(trace.blockTokens());
        return List.of(
                String.format(
                        Locale.ROOT,
                        "trace    %s: %,d requests over %,.0f s, %,d prompt and %,d output tokens",
                        trace.name(),
                        statistics.requests(),
                        statistics.durationSeconds(),
                        statistics.tokens().input(),
                        statistics.tokens().output()),
                String.format(
                        Locale.ROOT,
                        "blocks   %,d of %d tokens, %,d distinct; %,d (%.1f %%) could be reused by one endless cache",
                        statistics.blocks().total(),
                        trace.blockTokens(),
                        statistics.blocks().unique(),
                        statistics.blocks().idealReuse(),
                        100.0
                                * statistics.blocks().idealReuse()
                                / Math.max(1, statistics.blocks().total())),
                String.format(
                        Locale.ROOT,
                        "fleet    %d workers, engine model %s, %,d cache blocks each, rate x %s, seed %d",
                        settings.workers,
                        engines.model().name(),
                        engines.cacheBlocks(),
                        settings.rate,
                        settings.seed));
    }

    private List<TimedRun> replay(Workload workload) {
        List<Topology> topologies = topologies();
        Workload warmUp = Workload.of(workload.trace().first(WARM_UP_REQUESTS));
        topologies.forEach(topology -> policies().values().forEach(policy -> simulate(topology, policy, warmUp)));

        List<TimedRun> runs = new ArrayList<>();
        int total = topologies.size() * policies().size();
        for (Topology topology : topologies) {
            policies().forEach((name, policy) -> {
                String order = orderOf(topology);
                err.printf(
                        "replaying %2d/%d  %s, %s%s%n",
                        runs.size() + 1, total, topology.label(), name, order == null ? "" : ", " + order);
                long start = ticker.read();
                SimulationResult result = simulate(topology, policy, workload);
                double wallMillis = (ticker.read() - start) / 1e6;
                runs.add(new TimedRun(new NamedResult(topology.label(), name, order, result), wallMillis));
            });
        }
        return runs;
    }

    private List<Topology> topologies() {
        int prefill = Math.max(1, Math.min(settings.workers - 1, Math.round(settings.workers * 5 / 8f)));
        int decode = settings.workers - prefill;
        return List.of(
                new Topology.Aggregated(settings.workers),
                new Topology.Disaggregated(prefill, decode, PlanOrder.PREFILL_ANCHORED),
                new Topology.Disaggregated(prefill, decode, PlanOrder.DECODE_ANCHORED));
    }

    private static Map<String, SelectionPolicy> policies() {
        Map<String, SelectionPolicy> policies = new LinkedHashMap<>();
        policies.put("round-robin", SelectionPolicy.roundRobin());
        policies.put("least-loaded", SelectionPolicy.leastLoaded());
        policies.put("lmetric", SelectionPolicy.lmetric());
        policies.put("kv-aware", SelectionPolicy.kvAware());
        return policies;
    }

    private static @Nullable String orderOf(Topology topology) {
        return topology instanceof Topology.Disaggregated pair
                ? pair.order().name().toLowerCase(Locale.ROOT).replace('_', '-')
                : null;
    }

    private SimulationResult simulate(Topology topology, SelectionPolicy policy, Workload workload) {
        return simulate(topology, CorePool.with(core -> core.policy(policy)), workload);
    }

    private SimulationResult simulate(Topology topology, SimulatedPool.Factory pools, Workload workload) {
        EngineSetup engines = engines(workload.trace().blockTokens());
        return new Simulation(topology, engines, pools, settings.seed).run(workload);
    }

    /** Replays the first topology once more, which gives the same decisions, and keeps one of them. */
    private @Nullable ExplainedDecision explain(Workload workload) {
        List<ExplainedRun> runs = new ArrayList<>();
        simulate(
                topologies().get(0),
                setup -> {
                    CorePool pool = CorePool.of(setup, core -> core.policy(SelectionPolicy.kvAware()));
                    ExplainedRun run = new ExplainedRun(pool, workload.requests() / 2);
                    runs.add(run);
                    return run;
                },
                workload);
        return runs.get(0).decision();
    }

    /** Blocks of the trace's size, as many as hold the tokens of the blocks asked for. */
    private EngineSetup engines(int blockTokens) {
        long blocks = (long) settings.cacheBlocks * BLOCK_TOKENS / blockTokens;
        return new EngineSetup(
                EngineModel.L70_TP4.withBlockTokens(blockTokens),
                (int) Math.min(Integer.MAX_VALUE, blocks),
                EngineSetup.DEFAULT.delivery());
    }

    private void printRefusals(List<NamedResult> results) {
        for (NamedResult run : results) {
            Map<SelectionException.Kind, Integer> refused =
                    run.result().traffic().refused();
            if (!refused.isEmpty()) {
                out.println(run.title() + ": refused " + refused);
            }
        }
    }
}

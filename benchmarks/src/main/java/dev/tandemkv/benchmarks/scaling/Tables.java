package dev.tandemkv.benchmarks.scaling;

import static dev.tandemkv.benchmarks.scaling.Cells.MODELLED;
import static dev.tandemkv.benchmarks.scaling.Cells.bytes;
import static dev.tandemkv.benchmarks.scaling.Cells.count;
import static dev.tandemkv.benchmarks.scaling.Cells.digits;
import static dev.tandemkv.benchmarks.scaling.Cells.percent;
import static dev.tandemkv.benchmarks.scaling.Cells.time;
import static dev.tandemkv.benchmarks.scaling.Cells.times;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.ToDoubleFunction;

/** The tables of docs/scaling.md, by name, from what was measured and from nothing else. */
final class Tables {

    static final int RANKS = 10_000;
    static final int GATEWAYS = 100;
    static final List<Integer> BLOCK_TOKENS = List.of(64, 16);
    private static final int[] FLEETS = {1_250, 2_500, 5_000, RANKS};

    /** Blocks that one index can name: 26 bits of slot number. */
    private static final double MOST_BLOCKS = 1 << 26;

    private final Measured measured;
    private final Models models;

    Tables(Measured measured) {
        this.measured = measured;
        models = new Models(measured);
    }

    Map<String, String> all() {
        Map<String, String> tables = new LinkedHashMap<>();
        tables.put("conditions", conditions());
        tables.put("memory", memory());
        tables.put("find", find());
        tables.put("events", events());
        tables.put("selection", selection());
        tables.put("replication", replication());
        tables.put("limits", limits());
        tables.put("models", formulas());
        return tables;
    }

    private String conditions() {
        Cells table = new Cells("part", "date", "JDK", "CPUs", "load average before / after");
        measured.conditions()
                .forEach((part, c) -> table.row(
                        part,
                        c.date(),
                        c.java(),
                        Integer.toString(c.cpus()),
                        digits(c.loadBefore()) + " / " + digits(c.loadAfter())));
        return table.text();
    }

    // ---- the index

    private Optional<IndexPoint> index(int blockTokens, int ranks) {
        return measured.index(blockTokens).stream()
                .filter(p -> p.ranks() == ranks)
                .findFirst();
    }

    private String memory() {
        Cells table = new Cells(
                "tokens per block",
                "ranks",
                "blocks held",
                "distinct blocks",
                "parts",
                "bytes per distinct block",
                "index");
        for (int blockTokens : BLOCK_TOKENS) {
            FleetShape shape = new FleetShape(blockTokens);
            Model perBlock = models.bytesPerBlock(blockTokens);
            for (int ranks : FLEETS) {
                Optional<IndexPoint> point = index(blockTokens, ranks);
                int parts = point.map(IndexPoint::shards).orElse(parts(shape, ranks));
                double distinct =
                        point.map(p -> (double) p.distinctBlocks()).orElseGet(() -> shape.distinct(ranks, parts));
                double each = point.map(p -> p.accountedBytes() / distinct).orElse(perBlock.at(1, ranks));
                String mark = point.isPresent() ? "" : MODELLED;
                table.row(
                        Integer.toString(blockTokens),
                        count(ranks),
                        count((double) shape.pairs(ranks)),
                        mark + count(distinct),
                        mark + parts,
                        mark + digits(each) + " B",
                        mark + bytes(each * distinct));
            }
        }
        return table.text();
    }

    /** The next power of two that the blocks fit into. */
    private static int parts(FleetShape shape, int ranks) {
        int parts = 1;
        while (shape.distinct(ranks, parts) > parts * MOST_BLOCKS) {
            parts *= 2;
        }
        return parts;
    }

    private String find() {
        Cells table = new Cells(
                "tokens per block",
                "ranks",
                "prompt that one rank holds, all scores",
                "system prompt that all hold, all scores",
                "the first again, best 16",
                "store, per block",
                "remove, per block");
        for (int blockTokens : BLOCK_TOKENS) {
            for (int ranks : FLEETS) {
                Optional<IndexPoint> point = index(blockTokens, ranks);
                double blocks = Math.log(new FleetShape(blockTokens).distinct(ranks, 1));
                table.row(
                        Integer.toString(blockTokens),
                        count(ranks),
                        lookup(blockTokens, ranks, IndexPoint::prompt),
                        lookup(blockTokens, ranks, IndexPoint::system),
                        lookup(blockTokens, ranks, IndexPoint::best),
                        point.map(p -> time(p.churnStoreNanos()))
                                .orElse(MODELLED
                                        + time(models.change(blockTokens, IndexPoint::churnStoreNanos)
                                                .at(1, blocks))),
                        point.map(p -> time(p.churnRemoveNanos()))
                                .orElse(MODELLED
                                        + time(models.change(blockTokens, IndexPoint::churnRemoveNanos)
                                                .at(1, blocks))));
            }
        }
        return table.text();
    }

    private String lookup(int blockTokens, int ranks, Function<IndexPoint, Latency> figure) {
        return index(blockTokens, ranks)
                .map(p -> times(figure.apply(p)))
                .orElseGet(() -> MODELLED
                        + time(models.find(blockTokens, p -> figure.apply(p).p50Nanos())
                                .at(1, ranks)));
    }

    // ---- events

    private double writerNanos(int blockTokens, ToDoubleFunction<IndexPoint> figure) {
        return index(blockTokens, RANKS)
                .map(figure::applyAsDouble)
                .orElseGet(() -> models.change(blockTokens, figure)
                        .at(1, Math.log(new FleetShape(blockTokens).distinct(RANKS, 1))));
    }

    /** Seconds of one writer per second. */
    private double writers(int blockTokens, int ranks) {
        return FleetLoad.storedPerSecond(ranks, blockTokens)
                * (writerNanos(blockTokens, IndexPoint::churnStoreNanos)
                        + writerNanos(blockTokens, IndexPoint::churnRemoveNanos))
                / 1e9;
    }

    /** Seconds of ingress threads per second, each following so many of the ranks. */
    private double readers(int blockTokens, int ranks, int ranksPerThread) {
        return FleetLoad.messagesPerSecond(ranks) * models.intake(blockTokens).at(1, 1.0 / ranksPerThread) / 1e9;
    }

    /** Ranks that the largest measured ingress followed. */
    private int largestIngress(int blockTokens) {
        List<IntakePoint> points = measured.intake(blockTokens);
        return points.get(points.size() - 1).ranks();
    }

    private String events() {
        Cells table = new Cells(
                "tokens per block",
                "blocks stored + removed per second",
                "messages per second",
                "index writer, CPUs",
                "reading and applying, CPUs, threads of " + count(largestIngress(BLOCK_TOKENS.get(0))) + " ranks each");
        for (int blockTokens : BLOCK_TOKENS) {
            table.row(
                    Integer.toString(blockTokens),
                    count(2 * FleetLoad.storedPerSecond(RANKS, blockTokens)),
                    count(FleetLoad.messagesPerSecond(RANKS)),
                    MODELLED + digits(writers(blockTokens, RANKS)),
                    MODELLED + digits(readers(blockTokens, RANKS, largestIngress(blockTokens))));
        }
        return table.text();
    }

    // ---- selection

    private String selection() {
        Cells table = new Cells(
                "workers",
                "64-token blocks, p50 / p99",
                "16-token blocks, p50 / p99",
                "decisions per second and partition, 64 / 16");
        for (SelectionPoint wide : measured.selection(64)) {
            SelectionPoint narrow = measured.selection(16).stream()
                    .filter(p -> p.workers() == wide.workers())
                    .findFirst()
                    .orElseThrow();
            table.row(
                    count(wide.workers()),
                    times(wide.bookAndFree()),
                    times(narrow.bookAndFree()),
                    count(1e9 / wide.bookAndFree().p50Nanos()) + " / "
                            + count(1e9 / narrow.bookAndFree().p50Nanos()));
        }
        return table.text();
    }

    // ---- replication

    private String replication() {
        Cells table = new Cells(
                "prompt of 12,000 tokens in blocks of",
                "messages per booking and peer",
                "bytes per booking and peer",
                "each gateway hears, per second",
                "each gateway sends",
                "all " + GATEWAYS + " together",
                "hearing it, CPUs per gateway",
                "sending it, CPUs per gateway");
        for (int blockTokens : BLOCK_TOKENS) {
            int blocks = new FleetShape(blockTokens).promptBlocks();
            ReplicaPoint point = measured.replicas(true).stream()
                    .filter(p -> p.blocks() == blocks)
                    .findFirst()
                    .orElseThrow();
            told(table, Integer.toString(blockTokens), point);
        }
        List<ReplicaPoint> untracked = measured.replicas(false);
        told(table, "any, `router_track_active_blocks` off", untracked.get(untracked.size() - 1));
        return table.text();
    }

    private void told(Cells table, String name, ReplicaPoint point) {
        double perGateway = FleetLoad.requestsPerSecond(RANKS) / GATEWAYS;
        int peers = GATEWAYS - 1;
        double heard = perGateway * peers;
        double sendingNanos = point.senderNanos()
                + point.messages()
                        * (models.fanOut().at(1, peers) - models.fanOut().at(1, 1));
        table.row(
                name,
                digits(point.messages()),
                count(point.bytes()),
                MODELLED + count(heard * point.messages()) + " messages, " + bytes(heard * point.bytes()),
                MODELLED + bytes(heard * point.bytes()),
                MODELLED + bytes(GATEWAYS * heard * point.bytes()),
                MODELLED + digits(heard * point.receiverNanos() / 1e9),
                MODELLED + digits(perGateway * sendingNanos / 1e9));
    }

    // ---- limits

    private String limits() {
        Cells table = new Cells("what ends", "at", "ranks, 64-token blocks", "ranks, 16-token blocks");
        table.row(
                "one index: slot numbers of 26 bits",
                count(MOST_BLOCKS) + " distinct blocks",
                limit(64, this::ranksOfOneIndex),
                limit(16, this::ranksOfOneIndex));
        table.row(
                "one writer at half a CPU",
                "changes of full caches",
                limit(64, this::ranksOfOneWriter),
                limit(16, this::ranksOfOneWriter));
        table.row(
                "one ingress thread at half a CPU",
                "messages of " + FleetLoad.STEP_TOKENS + " tokens",
                limit(64, this::ranksOfOneIngress),
                limit(16, this::ranksOfOneIngress));
        table.row(
                "one partition at half a CPU",
                "all requests, of " + count(FleetShape.PROMPT_TOKENS) + " tokens, at one gateway",
                limit(64, this::ranksOfOnePartition),
                limit(16, this::ranksOfOnePartition));
        return table.text();
    }

    private String limit(int blockTokens, Function<Integer, Integer> ranks) {
        return MODELLED + count(ranks.apply(blockTokens));
    }

    private int ranksOfOneIndex(int blockTokens) {
        return largest(ranks -> new FleetShape(blockTokens).distinct(ranks) <= MOST_BLOCKS);
    }

    private int ranksOfOneWriter(int blockTokens) {
        return largest(ranks -> writers(blockTokens, ranks) <= 0.5);
    }

    private int ranksOfOneIngress(int blockTokens) {
        return largest(ranks -> readers(blockTokens, ranks, ranks) <= 0.5);
    }

    /** All requests of the fleet pass one gateway. */
    private int ranksOfOnePartition(int blockTokens) {
        Model decision = models.decision(blockTokens);
        return largest(ranks -> FleetLoad.requestsPerSecond(ranks) * decision.at(1, ranks) / 1e9 <= 0.5);
    }

    private static int largest(IntPredicate carries) {
        int low = 0;
        int high = 1 << 20;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (carries.test(middle)) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    // ---- formulas

    private String formulas() {
        Cells table = new Cells("figure", "tokens per block", "formula", "error at the largest measured size");
        for (int blockTokens : BLOCK_TOKENS) {
            String tokens = Integer.toString(blockTokens);
            formula(table, "bytes per distinct block", tokens, models.bytesPerBlock(blockTokens), "B", "ranks");
            formula(table, "find, all scores, p50", tokens, median(blockTokens, IndexPoint::prompt), "ns", "ranks");
            formula(
                    table,
                    "find of a system prompt, p50",
                    tokens,
                    median(blockTokens, IndexPoint::system),
                    "ns",
                    "ranks");
            formula(table, "best 16, p50", tokens, median(blockTokens, IndexPoint::best), "ns", "ranks");
            formula(
                    table,
                    "store, per block",
                    tokens,
                    models.change(blockTokens, IndexPoint::churnStoreNanos),
                    "ns",
                    "ln(distinct blocks)");
            formula(
                    table,
                    "remove, per block",
                    tokens,
                    models.change(blockTokens, IndexPoint::churnRemoveNanos),
                    "ns",
                    "ln(distinct blocks)");
            formula(table, "decision and end, p50", tokens, models.decision(blockTokens), "ns", "workers");
            formula(
                    table,
                    "ingress thread per message",
                    tokens,
                    models.intake(blockTokens),
                    "ns",
                    "(1 / ranks of the thread)");
        }
        formula(table, "bytes per booking and peer", "any", models.bookingBytes(), "B", "blocks");
        formula(table, "hearing of a booking", "any", models.bookingReceived(), "ns", "blocks");
        formula(table, "sending a message", "any", models.fanOut(), "ns", "peers");
        return table.text();
    }

    private Model median(int blockTokens, Function<IndexPoint, Latency> figure) {
        return models.find(blockTokens, p -> figure.apply(p).p50Nanos());
    }

    private static void formula(Cells table, String figure, String tokens, Model model, String unit, String size) {
        table.row(
                figure,
                tokens,
                String.format(
                        Locale.ROOT,
                        "%.4g %s %s %.4g x %s",
                        model.first(),
                        unit,
                        model.second() < 0 ? "-" : "+",
                        Math.abs(model.second()),
                        size),
                percent(model.error()));
    }
}

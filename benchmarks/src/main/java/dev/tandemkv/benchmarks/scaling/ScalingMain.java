package dev.tandemkv.benchmarks.scaling;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * {@code benchmarks/scaling [--part NAME[,NAME...]] [--json FILE] [--write DOCUMENT]}: measures parts, puts them in place of what the file had of them, and
 * writes the tables of the whole file into a document; without a file it prints them. {@code --part none} measures nothing.
 */
public final class ScalingMain {

    private static final int[] INDEX_64 = {312, 625, 1_250, 2_500, 5_000, 10_000};
    private static final int[] INDEX_16 = {156, 312, 625, 1_250, 2_500};
    /** Where one index ends, in how many parts the fleet goes on. */
    private static final int SHARDS = 4;

    private static final int[] WORKERS = {64, 256, 1_024, 2_500, 5_000, 10_000};
    private static final int[] INGRESS_RANKS = {64, 128, 256, 512};
    private static final int[] PROMPT_BLOCKS = {16, 187, 750, 2_048};
    private static final int BOOKINGS = 4_000;
    private static final int[] PEERS = {1, 2, 4, 8, 16};

    private final Map<String, UnaryOperator<Measured>> parts = new LinkedHashMap<>();
    private List<String> chosen;
    private @Nullable Path json;
    private @Nullable Path document;

    private ScalingMain() {
        parts.put("index-64", measured -> measured.withIndex(64, index(64, INDEX_64)));
        parts.put("index-16", measured -> measured.withIndex(16, index(16, INDEX_16)));
        parts.put("sharded-16", measured -> measured.withSharded(sharded(16, 10_000)));
        parts.put("selection", measured -> measured.withSelection(selection()));
        parts.put("intake", measured -> measured.withIntake(intake()));
        parts.put("replicas", measured -> measured.withReplicas(replicas(), fanOut()));
        // That one needs 10 GiB of heap.
        chosen = parts.keySet().stream()
                .filter(part -> !part.startsWith("sharded"))
                .toList();
    }

    public static void main(String[] args) throws IOException {
        ScalingMain main = new ScalingMain();
        if (!main.parse(args)) {
            System.err.println("usage: benchmarks/scaling [--part " + String.join("|", main.parts.keySet())
                    + "|none[,...]] [--json FILE] [--write DOCUMENT]");
            System.exit(2);
        }
        main.run();
    }

    private boolean parse(String[] args) {
        for (int i = 0; i + 1 < args.length; i += 2) {
            switch (args[i]) {
                case "--part" ->
                    chosen = args[i + 1].equals("none") ? List.of() : Arrays.asList(args[i + 1].split(","));
                case "--json" -> json = Path.of(args[i + 1]);
                case "--write" -> document = Path.of(args[i + 1]);
                default -> {
                    return false;
                }
            }
        }
        return args.length % 2 == 0 && parts.keySet().containsAll(chosen);
    }

    private void run() throws IOException {
        Path file = json;
        Measured measured = file != null && Files.exists(file) ? Measured.read(file) : Measured.nothing();
        for (String part : chosen) {
            double before = load();
            measured = parts.getOrDefault(part, UnaryOperator.identity()).apply(measured);
            measured = measured.with(
                    part,
                    new Measured.Conditions(
                            LocalDate.now(ZoneOffset.UTC).toString(),
                            Runtime.version().toString(),
                            Runtime.getRuntime().availableProcessors(),
                            before,
                            load()));
            if (file != null) {
                measured.write(file);
            }
        }
        // Tables need every part; a file may be filled part by part.
        if (document != null) {
            Map<String, String> tables = new Tables(measured).all();
            Files.writeString(document, Document.withTables(Files.readString(document), tables));
        } else if (file == null) {
            new Tables(measured).all().forEach((name, table) -> System.out.println("\n" + name + "\n\n" + table));
        }
    }

    private static double load() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    private static List<IndexPoint> index(int blockTokens, int[] sizes) {
        FleetShape shape = new FleetShape(blockTokens);
        // Once for nothing: the first index is not compiled yet.
        IndexScale.measure(shape, sizes[0], 1);
        List<IndexPoint> points = new ArrayList<>();
        for (int ranks : sizes) {
            points.add(said(IndexScale.measure(shape, ranks, 1)));
        }
        return points;
    }

    private static List<IndexPoint> sharded(int blockTokens, int... sizes) {
        FleetShape shape = new FleetShape(blockTokens);
        IndexScale.measure(shape, 312, SHARDS);
        List<IndexPoint> points = new ArrayList<>();
        for (int ranks : sizes) {
            points.add(said(IndexScale.measure(shape, ranks, SHARDS)));
        }
        return points;
    }

    private static List<SelectionPoint> selection() {
        // Some for nothing, of every size of prompt, until all is compiled.
        for (int round = 0; round < 2; round++) {
            for (int blockTokens : Tables.BLOCK_TOKENS) {
                SelectionScale.measure(new FleetShape(blockTokens), WORKERS[0]);
                SelectionScale.measure(new FleetShape(blockTokens), WORKERS[2]);
            }
        }
        List<SelectionPoint> points = new ArrayList<>();
        for (int blockTokens : Tables.BLOCK_TOKENS) {
            for (int workers : WORKERS) {
                points.add(said(SelectionScale.measure(new FleetShape(blockTokens), workers)));
            }
        }
        return points;
    }

    private static List<IntakePoint> intake() {
        List<IntakePoint> points = new ArrayList<>();
        for (int blockTokens : Tables.BLOCK_TOKENS) {
            // Compiled by more messages than the first size has.
            IntakeScale.measure(blockTokens, INGRESS_RANKS[2]);
            for (int ranks : INGRESS_RANKS) {
                points.add(said(IntakeScale.measure(blockTokens, ranks)));
            }
        }
        return points;
    }

    private static List<ReplicaPoint> replicas() {
        ReplicaScale.measure(PROMPT_BLOCKS[2], true, 2 * BOOKINGS);
        List<ReplicaPoint> points = new ArrayList<>();
        for (int blocks : PROMPT_BLOCKS) {
            points.add(said(ReplicaScale.measure(blocks, true, BOOKINGS)));
        }
        points.add(said(ReplicaScale.measure(PROMPT_BLOCKS[2], false, BOOKINGS)));
        return points;
    }

    private static List<FanOutPoint> fanOut() {
        List<FanOutPoint> points = new ArrayList<>();
        for (int peers : PEERS) {
            points.add(said(ReplicaScale.fanOut(peers)));
        }
        return points;
    }

    private static <T> T said(T point) {
        System.err.println(point);
        return point;
    }
}

package dev.tandemkv.benchmarks.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What one process measured: cells of (workload, case), each with figures per tag and repetition. Written as one JSON document whose
 * cells have the form of the public Rust harness. Not thread-safe.
 */
public final class Run {

    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private final Map<String, Cell> cells = new LinkedHashMap<>();
    private final Map<String, Object> conditions = new LinkedHashMap<>();

    public Run() {
        conditions.put("implementation", "tandemkv");
        conditions.put("java", Runtime.version().toString());
        conditions.put("cpus", Runtime.getRuntime().availableProcessors());
        conditions.put("date_utc", Instant.now().toString());
    }

    /** A condition of the run, for example a calibration figure. */
    public void condition(String name, Object value) {
        conditions.put(name, value);
    }

    /** The cell of a workload's case; made when first asked for. */
    public Cell cell(String workload, String name) {
        return cells.computeIfAbsent(workload + '|' + name, key -> new Cell(workload, name));
    }

    public void write(Path file) throws IOException {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("conditions", conditions);
        document.put("cells", cells.values().stream().map(Cell::toJson).toList());
        Files.write(file, JSON.writeValueAsBytes(document));
    }

    /** One line per cell: of finds mean / p50 / p99 in ns, of events ns per block; medians over the repetitions. */
    public void print() {
        cells.values().forEach(cell -> System.out.println(cell.line()));
    }

    /** One case of one workload. */
    public static final class Cell {
        private final String workload;
        private final String name;
        private final Map<String, Object> facts = new LinkedHashMap<>();
        private final Map<String, Tag> tags = new LinkedHashMap<>();

        private Cell(String workload, String name) {
            this.workload = workload;
            this.name = name;
        }

        public void fact(String key, Object value) {
            facts.put(key, value);
        }

        /** One repetition of one kind of operation. */
        public void add(String tag, Samples samples) {
            Tag t = tags.computeIfAbsent(tag, key -> new Tag());
            samples.figures().forEach(t::figure);
            t.operations = samples.operations();
            t.blocks = samples.blocks();
            if (samples.sumOfScores() > 0 || tag.startsWith("find")) {
                t.checksum = Map.of(
                        "all", samples.sumOfScores(),
                        "best", samples.sumOfBest(),
                        "holders", samples.sumOfHolders());
            }
        }

        /** One repetition of a figure that is no latency, for example bytes per pair. */
        public void add(String tag, String figure, double value) {
            tags.computeIfAbsent(tag, key -> new Tag()).figure(figure, value);
        }

        private Map<String, Object> toJson() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("workload", workload);
            json.put("case", name);
            json.put("variant", "tandemkv");
            json.put("facts", facts);
            Map<String, Object> byTag = new LinkedHashMap<>();
            tags.forEach((tag, t) -> byTag.put(tag, t.toJson()));
            json.put("tags", byTag);
            return json;
        }

        private String line() {
            StringBuilder line = new StringBuilder(String.format("%-10s %-26s", workload, name));
            tags.forEach((tag, t) -> line.append(' ').append(tag).append(' ').append(t.shortText()));
            return line.toString();
        }
    }

    private static final class Tag {
        private final Map<String, List<Double>> figures = new LinkedHashMap<>();
        private Map<String, Long> checksum = Map.of();
        private long operations;
        private long blocks;

        void figure(String name, double value) {
            figures.computeIfAbsent(name, key -> new ArrayList<>()).add(value);
        }

        Map<String, Object> toJson() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("operations", operations);
            json.put("blocks", blocks);
            if (!checksum.isEmpty()) {
                json.put("checksum", checksum);
            }
            Map<String, Object> byName = new LinkedHashMap<>();
            figures.forEach((name, reps) -> byName.put(name, spread(reps)));
            json.put("figures", byName);
            return json;
        }

        String shortText() {
            if (figures.containsKey("ns_per_block")) {
                return text("ns_per_block") + "/block";
            }
            if (figures.containsKey("mean_ns")) {
                return text("mean_ns") + " / " + text("p50_ns") + " / " + text("p99_ns");
            }
            return String.join(
                    ", ",
                    figures.keySet().stream()
                            .map(name -> name + ' ' + text(name))
                            .toList());
        }

        private String text(String figure) {
            double value = median(figures.getOrDefault(figure, List.of(0.0)));
            return String.format(value >= 1_000 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value);
        }
    }

    private static Map<String, Object> spread(List<Double> reps) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("median", median(reps));
        json.put("min", reps.stream().mapToDouble(d -> d).min().orElse(0));
        json.put("max", reps.stream().mapToDouble(d -> d).max().orElse(0));
        json.put("reps", reps);
        return json;
    }

    static double median(List<Double> values) {
        double[] sorted = values.stream().mapToDouble(d -> d).toArray();
        Arrays.sort(sorted);
        int n = sorted.length;
        return n == 0 ? Double.NaN : n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    }
}

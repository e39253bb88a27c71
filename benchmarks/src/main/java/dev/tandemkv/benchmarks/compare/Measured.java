package dev.tandemkv.benchmarks.compare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Every figure of one implementation over all rounds of a run: figure key to variant to the values of all repetitions. A key reads
 * {@code workload-case.tag.figure}, for example {@code conv-f8-w16.find_full.mean}.
 */
final class Measured {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final String name;
    private final Map<String, Map<String, List<Double>>> figures = new TreeMap<>();
    private final Map<String, Checksum> checksums = new TreeMap<>();
    private final Set<String> disagreements = new TreeSet<>();

    Measured(String name) {
        this.name = name;
    }

    /** Sum of all scores, and over how many finds: a run with a time budget may stop earlier than another. */
    record Checksum(long all, long operations) {

        /** Whether both saw the same matches, where both did the same number of finds; per find otherwise. */
        boolean agrees(Checksum other) {
            return operations == other.operations
                    ? all == other.all
                    : Math.abs((double) all / operations - (double) other.all / other.operations) < 1e-9;
        }
    }

    String name() {
        return name;
    }

    void read(Path file) throws IOException {
        for (JsonNode cell : JSON.readTree(file.toFile()).path("cells")) {
            String prefix =
                    prefix(cell.path("workload").asText(), cell.path("case").asText());
            String variant = cell.path("variant").asText();
            cell.path("tags").properties().forEach(tag -> addTag(prefix + '.' + tag.getKey(), variant, tag.getValue()));
        }
    }

    /** The other harness keeps memory as a workload of its own; here it is a tag of the workload whose tree was measured. */
    private static String prefix(String workload, String name) {
        if (!workload.equals("memory")) {
            return workload + '-' + slug(name);
        }
        return slug(name.replace("conversation ", "conv-f8 ")
                .replace("synthetic ", "syn-f8 ")
                .replace("after churn ", "churn "));
    }

    private void addTag(String key, String variant, JsonNode tag) {
        tag.path("figures").properties().forEach(figure -> {
            List<Double> values = figures.computeIfAbsent(key + '.' + shortName(figure.getKey()), k -> new TreeMap<>())
                    .computeIfAbsent(variant, v -> new ArrayList<>());
            figure.getValue().path("reps").forEach(value -> values.add(value.asDouble()));
        });
        if (tag.has("checksum") && !tag.path("checksum").isNull()) {
            Checksum sum = new Checksum(
                    tag.path("checksum").path("all").asLong(),
                    tag.path("operations").asLong());
            Checksum former = checksums.putIfAbsent(key, sum);
            if (former != null && !former.agrees(sum)) {
                disagreements.add(key + " (" + variant + ')');
            }
        }
    }

    Set<String> keys() {
        return figures.keySet();
    }

    boolean has(String key) {
        return figures.containsKey(key);
    }

    /** Median over all repetitions, for each variant that has this figure. */
    Map<String, Double> medians(String key) {
        Map<String, Double> medians = new TreeMap<>();
        figures.getOrDefault(key, Map.of()).forEach((variant, values) -> {
            if (!values.isEmpty()) {
                medians.put(variant, median(values));
            }
        });
        return medians;
    }

    /** The lowest median of any variant; not a number if there is none. */
    double best(String key) {
        return medians(key).values().stream().mapToDouble(d -> d).min().orElse(Double.NaN);
    }

    Map<String, Checksum> checksums() {
        return checksums;
    }

    /** Finds on which two variants of this implementation do not agree with one another. */
    Set<String> disagreements() {
        return disagreements;
    }

    private static double median(List<Double> values) {
        double[] sorted = values.stream().mapToDouble(d -> d).sorted().toArray();
        int n = sorted.length;
        return n % 2 == 1
                ? sorted[n / 2]
                : Arrays.stream(sorted, n / 2 - 1, n / 2 + 1).sum() / 2;
    }

    /** {@code W=16} becomes {@code w16}, {@code direct T=0.7 W=32} becomes {@code direct-t0.7-w32}. */
    static String slug(String text) {
        return text.toLowerCase(Locale.ROOT).replace("=", "").replaceAll("[^a-z0-9.]+", "-");
    }

    private static String shortName(String figure) {
        return figure.endsWith("_ns") ? figure.substring(0, figure.length() - 3) : figure;
    }
}

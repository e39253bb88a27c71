package dev.tandemkv.benchmarks.compare;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reads what {@code benchmarks/compare} measured, checks that both sides matched the same blocks, and prints ours, each variant of the
 * peer, and the ratios. Every figure is a cost: lower is better, and a ratio (best peer variant of any version / ours) above 1 means that
 * ours is better.
 *
 * <p>Arguments: the directory with files {@code SIDE-WORKLOAD-ROUND.json} (sides {@code ours} and any number of peers), and optionally
 * the JSON file to write. Exit code 1 if the checksums differ.
 */
public final class Compare {

    private final Measured ours = new Measured("tandemkv");
    private final Map<String, Measured> peers = new TreeMap<>();

    private Compare() {}

    public static void main(String[] args) throws IOException {
        Compare compare = new Compare();
        compare.readAll(Path.of(args[0]));
        Map<String, Double> ratios = compare.ratios();
        compare.print(ratios);
        List<String> mismatches = compare.checksumMismatches();
        mismatches.forEach(mismatch -> System.err.println("checksum: " + mismatch));
        if (args.length > 1) {
            compare.write(Path.of(args[1]), ratios, mismatches);
        }
        System.exit(mismatches.isEmpty() ? 0 : 1);
    }

    private void readAll(Path directory) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.json")) {
            for (Path file : files) {
                String side = file.getFileName().toString().split("-", 2)[0];
                (side.equals("ours") ? ours : peers.computeIfAbsent(side, Measured::new)).read(file);
            }
        }
    }

    private Map<String, Double> ratios() {
        Map<String, Double> ratios = new TreeMap<>();
        for (String key : ours.keys()) {
            double peer = peers.values().stream()
                    .mapToDouble(p -> p.best(key))
                    .filter(d -> !Double.isNaN(d))
                    .min()
                    .orElse(Double.NaN);
            double own = ours.best(key);
            if (peer > 0 && own > 0 && isCompared(key)) {
                ratios.put(key, peer / own);
            }
        }
        return ratios;
    }

    /** Totals depend on budgets, set-up and single worst samples on the machine. */
    private static boolean isCompared(String key) {
        return !key.endsWith("total_ms")
                && !key.endsWith(".max")
                && !key.contains(".build.")
                && !key.contains(".undo.")
                && !key.contains("_warmup.");
    }

    private List<String> checksumMismatches() {
        List<String> mismatches = new ArrayList<>();
        peers.values().forEach(peer -> {
            peer.disagreements().forEach(d -> mismatches.add(peer.name() + " disagrees with itself on " + d));
            peer.checksums().forEach((key, theirs) -> {
                Measured.Checksum own = ours.checksums().get(key);
                if (own != null && !own.agrees(theirs)) {
                    mismatches.add(key + ": ours " + own + ", " + peer.name() + ' ' + theirs);
                }
            });
        });
        return mismatches;
    }

    private void print(Map<String, Double> ratios) {
        System.out.printf("%-52s %12s %8s  %s%n", "figure (ns, or bytes)", "ours", "ratio", "peer variants");
        for (String key : ours.keys()) {
            if (!isCompared(key)) {
                continue;
            }
            Double ratio = ratios.get(key);
            StringBuilder variants = new StringBuilder();
            peers.forEach((version, peer) -> peer.medians(key)
                    .forEach((variant, value) ->
                            variants.append(String.format("%s@%s %.4g  ", variant, version, value))));
            System.out.printf(
                    "%-52s %12.4g %8s  %s%n",
                    key, ours.best(key), ratio == null ? "-" : String.format("%.2f", ratio), variants);
        }
    }

    private void write(Path file, Map<String, Double> ratios, List<String> mismatches) throws IOException {
        Map<String, Object> figures = new TreeMap<>();
        for (String key : ours.keys()) {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("ours", ours.best(key));
            peers.forEach((version, peer) -> {
                if (peer.has(key)) {
                    entry.put(version, peer.medians(key));
                }
            });
            figures.put(key, entry);
        }
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("date_utc", Instant.now().toString());
        document.put("java", Runtime.version().toString());
        document.put("cpus", Runtime.getRuntime().availableProcessors());
        document.put("peers", peers.keySet());
        document.put("checksumsAgree", mismatches.isEmpty());
        document.put("checksumMismatches", mismatches);
        document.put("ratios", ratios);
        document.put("figures", figures);
        Files.write(
                file,
                new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsBytes(document));
    }
}

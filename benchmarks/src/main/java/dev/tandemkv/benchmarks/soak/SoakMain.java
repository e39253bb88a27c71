package dev.tandemkv.benchmarks.soak;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code benchmarks/soak [--requests N] [--seed N] [--json FILE]}: exit code 0 if nothing was left behind, 1 if something was, 2 for options that
 * cannot be followed, which is found out before the soak begins.
 */
public final class SoakMain {

    private static final String USAGE = "usage: benchmarks/soak [--requests N] [--seed N] [--json FILE]";

    private long requests = 1_000_000;
    private long seed = 1;
    private @Nullable Path json;

    private SoakMain() {}

    public static void main(String[] args) throws IOException {
        System.exit(run(System.out, System.err, args));
    }

    /** As {@link #main}, with the streams given and the exit code returned. */
    static int run(PrintStream out, PrintStream err, String... args) throws IOException {
        SoakMain main = new SoakMain();
        try {
            main.parse(args);
        } catch (IllegalArgumentException refused) {
            err.println(refused.getMessage());
            err.println(USAGE);
            return 2;
        }
        return main.run(out, err);
    }

    /** @throws IllegalArgumentException naming the option and its value */
    private void parse(String... args) {
        for (int i = 0; i < args.length; i += 2) {
            String option = args[i];
            String value = i + 1 < args.length ? args[i + 1] : null;
            switch (option) {
                case "--requests" -> requests = number(option, value, 1);
                case "--seed" -> seed = number(option, value, Long.MIN_VALUE);
                case "--json" -> json = file(option, value);
                default -> throw new IllegalArgumentException(option + ": unknown option");
            }
        }
    }

    private static long number(String option, @Nullable String value, long least) {
        String expected = least == Long.MIN_VALUE ? "a 64-bit integer" : "an integer, >= " + least;
        try {
            long number = Long.parseLong(given(option, value, expected));
            if (number >= least) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Told below.
        }
        throw refused(option, value, expected);
    }

    private static Path file(String option, @Nullable String value) {
        String expected = "a file in a directory that exists";
        try {
            Path file = Path.of(given(option, value, expected));
            Path directory = file.toAbsolutePath().getParent();
            if (directory != null && Files.isDirectory(directory) && !Files.isDirectory(file)) {
                return file;
            }
        } catch (InvalidPathException e) {
            // Told below.
        }
        throw refused(option, value, expected);
    }

    private static String given(String option, @Nullable String value, String expected) {
        if (value == null) {
            throw refused(option, "missing", expected);
        }
        return value;
    }

    private static IllegalArgumentException refused(String option, @Nullable String value, String expected) {
        return new IllegalArgumentException(option + ": " + value + " (expected: " + expected + ')');
    }

    private int run(PrintStream out, PrintStream err) throws IOException {
        long started = System.nanoTime();
        SoakResult result = new Soak(seed).run(requests);
        long wallMs = (System.nanoTime() - started) / 1_000_000;
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("requests", result.requests());
        report.put("faults", result.faults());
        report.put("outcomes", result.outcomes());
        report.put("heldBookings", result.heldBookings());
        report.put("pendingFrees", result.pendingFrees());
        report.put("leakReports", result.leakReports());
        report.put("wallMs", wallMs);
        err.println("seed " + result.seed() + ", " + result.virtualSeconds() + " virtual seconds, open plans: "
                + result.openPlans());
        ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
        out.println(mapper.writeValueAsString(report));
        if (json != null) {
            mapper.writeValue(json.toFile(), report);
        }
        return result.isClean() ? 0 : 1;
    }
}

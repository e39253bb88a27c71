package dev.tandemkv.benchmarks.soak;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code benchmarks/soak [--requests N] [--seed N] [--json FILE]}: exit code 0 if nothing was left behind, 1 if something was, 2 for usage. */
public final class SoakMain {

    private static final String USAGE = "usage: benchmarks/soak [--requests N] [--seed N] [--json FILE]";

    private long requests = 1_000_000;
    private long seed = 1;
    private @Nullable Path json;

    private SoakMain() {}

    public static void main(String[] args) throws IOException {
        SoakMain main = new SoakMain();
        if (!main.parse(args)) {
            System.err.println(USAGE);
            System.exit(2);
        }
        System.exit(main.run());
    }

    private boolean parse(String[] args) {
        try {
            for (int i = 0; i < args.length; i += 2) {
                if (i + 1 == args.length) {
                    return false;
                }
                switch (args[i]) {
                    case "--requests" -> requests = Long.parseLong(args[i + 1]);
                    case "--seed" -> seed = Long.parseLong(args[i + 1]);
                    case "--json" -> json = Path.of(args[i + 1]);
                    default -> {
                        return false;
                    }
                }
            }
        } catch (NumberFormatException e) {
            return false;
        }
        return requests >= 1;
    }

    private int run() throws IOException {
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
        System.err.println("seed " + result.seed() + ", " + result.virtualSeconds() + " virtual seconds, open plans: "
                + result.openPlans());
        ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
        System.out.println(mapper.writeValueAsString(report));
        if (json != null) {
            mapper.writeValue(json.toFile(), report);
        }
        return result.isClean() ? 0 : 1;
    }
}

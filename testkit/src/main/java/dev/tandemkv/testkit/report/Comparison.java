package dev.tandemkv.testkit.report;

import dev.tandemkv.testkit.sim.SimulationResult;
import dev.tandemkv.testkit.trace.Distribution;
import java.util.List;
import java.util.Locale;

/** The table that runs are compared by. Stateless. */
public final class Comparison {

    private static final List<String> COLUMNS = List.of(
            "topology",
            "policy",
            "order",
            "hit ratio",
            "TTFT mean",
            "p50",
            "p90",
            "p99",
            "TPOT",
            "transferred",
            "open");

    private Comparison() {}

    /** One row per run: times in virtual ms, transfers in tokens, and the bookings left open, which must be 0. */
    public static Table of(List<NamedResult> runs) {
        return new Table(COLUMNS, runs.stream().map(Comparison::row).toList());
    }

    private static List<String> row(NamedResult run) {
        SimulationResult result = run.result();
        Distribution ttft = result.latency().ttft();
        String order = run.order();
        return List.of(
                run.topology(),
                run.policy(),
                order == null ? "" : order,
                Decimals.rounded(result.hitRatio(), 3).toPlainString(),
                whole(ttft.mean()),
                whole(ttft.p50()),
                whole(ttft.p90()),
                whole(ttft.p99()),
                Decimals.rounded(result.latency().tpot().mean(), 1).toPlainString(),
                grouped(result.traffic().tokens().transferred()),
                grouped(result.openBookings()));
    }

    private static String whole(double value) {
        return grouped(Math.round(value));
    }

    private static String grouped(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }
}

package dev.tandemkv.benchmarks.scaling;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** A Markdown table under construction, and how its figures are written. */
final class Cells {

    /** Before a figure that no measurement shows, only a model. */
    static final String MODELLED = "~";

    private final List<String> lines = new ArrayList<>();

    Cells(String... head) {
        row(head);
        String[] rule = new String[head.length];
        Arrays.fill(rule, "---:");
        rule[0] = "---";
        lines.add('|' + String.join("|", rule) + '|');
    }

    void row(String... cells) {
        lines.add("| " + String.join(" | ", cells) + " |");
    }

    String text() {
        return String.join("\n", lines);
    }

    static String count(double value) {
        if (value >= 1e6) {
            return digits(value / 1e6) + " M";
        }
        return String.format(Locale.ROOT, "%,d", Math.round(value));
    }

    static String bytes(double value) {
        if (value >= 1e9) {
            return digits(value / 1e9) + " GB";
        }
        return value >= 1e6 ? digits(value / 1e6) + " MB" : digits(value / 1e3) + " kB";
    }

    static String time(double nanos) {
        if (nanos >= 1e6) {
            return digits(nanos / 1e6) + " ms";
        }
        return nanos >= 1e3 ? digits(nanos / 1e3) + " us" : digits(nanos) + " ns";
    }

    static String times(Latency latency) {
        return time(latency.p50Nanos()) + " / " + time(latency.p99Nanos());
    }

    static String percent(double share) {
        return String.format(Locale.ROOT, "%+.0f %%", share * 100);
    }

    /** Two digits that count, or all before the point. */
    static String digits(double value) {
        String format = value >= 9.95 ? "%.0f" : value >= 0.995 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, format, value);
    }
}

package dev.tandemkv.adapters.micrometer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What PromQL expressions refer to. */
final class Expressions {

    private static final Pattern SERIES = Pattern.compile("\\b((?:tandemkv|dynamo)_\\w+)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("(\\w+)\\s*(?:=~|!=|!~|=)\\s*\"([^\"]*)\"");
    private static final Pattern GROUPING = Pattern.compile("by \\(([^)]*)\\)");
    private static final Set<String> OF_PROMETHEUS = Set.of("le");

    private Expressions() {}

    /** Every series name that Prometheus makes of a metric, with the metric. */
    static Map<String, Metric> seriesNames() {
        Map<String, Metric> names = new HashMap<>();
        Arrays.stream(Metric.values()).forEach(metric -> {
            if (metric.type().prometheusName().equals("histogram")) {
                for (String part : List.of("_bucket", "_count", "_sum")) {
                    names.put(metric.prometheusName() + part, metric);
                }
            } else {
                names.put(metric.prometheusName(), metric);
            }
        });
        return names;
    }

    /** What is wrong with an expression: series, labels and groupings that do not exist. */
    static List<String> problems(String expression) {
        List<String> problems = new ArrayList<>();
        Map<String, Metric> names = seriesNames();
        List<Metric> used = new ArrayList<>();
        Matcher series = SERIES.matcher(expression);
        while (series.find()) {
            Metric metric = names.get(series.group(1));
            if (metric == null) {
                problems.add("no metric " + series.group(1));
                continue;
            }
            used.add(metric);
            Matcher label = MATCHER.matcher(series.group(2) == null ? "" : series.group(2));
            while (label.find()) {
                if (!metric.tags().contains(label.group(1))) {
                    problems.add(metric.prometheusName() + " has no tag " + label.group(1));
                }
            }
        }
        if (used.isEmpty()) {
            problems.add("no metric in: " + expression);
        }
        Matcher grouping = GROUPING.matcher(expression);
        while (grouping.find()) {
            for (String label : grouping.group(1).split(",\\s*")) {
                if (!OF_PROMETHEUS.contains(label)
                        && used.stream().noneMatch(m -> m.tags().contains(label))) {
                    problems.add("no metric of the expression has the tag " + label);
                }
            }
        }
        return problems;
    }
}

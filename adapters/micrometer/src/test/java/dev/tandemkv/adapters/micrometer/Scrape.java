package dev.tandemkv.adapters.micrometer;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The text of one scrape, taken apart. */
final class Scrape {

    private static final Pattern SAMPLE = Pattern.compile("([a-zA-Z_:][\\w:]*)(?:\\{(.*)})? (\\S+)");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

    /** One line. */
    record Sample(String name, Map<String, String> labels, double value) {}

    /** Type by name of metric. */
    final Map<String, String> types = new LinkedHashMap<>();

    final List<Sample> samples = new ArrayList<>();

    private Scrape() {}

    static Scrape of(PrometheusMeterRegistry registry) {
        Scrape scrape = new Scrape();
        registry.scrape().lines().forEach(scrape::line);
        return scrape;
    }

    private void line(String line) {
        if (line.startsWith("# TYPE ")) {
            String[] words = line.split(" ");
            types.put(words[2], words[3]);
            return;
        }
        Matcher sample = SAMPLE.matcher(line);
        if (line.startsWith("#") || !sample.matches()) {
            return;
        }
        Map<String, String> labels = new TreeMap<>();
        if (sample.group(2) != null) {
            Matcher label = LABEL.matcher(sample.group(2));
            while (label.find()) {
                labels.put(label.group(1), label.group(2));
            }
        }
        samples.add(new Sample(sample.group(1), labels, Double.parseDouble(sample.group(3))));
    }

    /**
     * The value of a series, or empty if there is none.
     *
     * @param labels names and values in turn; the series may have more
     */
    Optional<Double> find(String name, String... labels) {
        return samples.stream()
                .filter(s -> s.name.equals(name) && has(s, labels))
                .map(Sample::value)
                .reduce(Double::sum);
    }

    /** As {@link #find}, of a series that is there. */
    double value(String name, String... labels) {
        return find(name, labels).orElseThrow(() -> new AssertionError("no series " + name + List.of(labels)));
    }

    private static boolean has(Sample sample, String... labels) {
        for (int i = 0; i < labels.length; i += 2) {
            if (!labels[i + 1].equals(sample.labels.get(labels[i]))) {
                return false;
            }
        }
        return true;
    }
}

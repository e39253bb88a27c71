package dev.tandemkv.adapters.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code docs/metrics.md} says of every metric what the code says, and of nothing else. */
class MetricsDocTest {

    private static String row(Metric metric) {
        String tags = metric.tags().isEmpty() ? "-" : String.join(", ", metric.tags());
        return "| `%s` | %s | %s | %s |"
                .formatted(metric.prometheusName(), metric.type().prometheusName(), tags, metric.help());
    }

    static Path docs() {
        return Path.of(System.getProperty("tandemkv.root"), "docs");
    }

    @Test
    void tables_listEveryMetricWithNameTypeTagsAndMeaning() throws IOException {
        List<String> rows;
        try (Stream<String> lines = Files.lines(docs().resolve("metrics.md"))) {
            rows = lines.filter(line -> line.startsWith("| `tandemkv_") || line.startsWith("| `dynamo_"))
                    .toList();
        }

        assertThat(rows)
                .containsExactlyInAnyOrderElementsOf(
                        Arrays.stream(Metric.values()).map(MetricsDocTest::row).toList());
    }

    @Test
    void names_areOnePerMetricAndAsTheTypeDemands() {
        List<String> names =
                Arrays.stream(Metric.values()).map(Metric::prometheusName).toList();

        assertThat(names).doesNotHaveDuplicates().allMatch(name -> name.matches("(tandemkv|dynamo)_[a-z0-9_]+"));
        for (Metric metric : Metric.values()) {
            assertThat(metric.prometheusName().endsWith("_total"))
                    .as(metric.prometheusName())
                    .isEqualTo(metric.type() == Metric.Type.COUNTER);
            assertThat(metric.tags())
                    .doesNotContainAnyElementsOf(List.of("session", "session_id", "request_id", "token"));
        }
    }
}

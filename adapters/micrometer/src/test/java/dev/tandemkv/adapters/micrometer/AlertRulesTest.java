package dev.tandemkv.adapters.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The alert rules ask for nothing that does not exist, and every silent failure has one. That each fires is {@link AlertsFireTest}'s. */
class AlertRulesTest {

    private static final Pattern LABEL = Pattern.compile("\\$labels\\.(\\w+)");

    /** A rule as the file has it. */
    record Rule(String expr, String text, String comment) {}

    /** The rules by name. The file keeps to one line for an expression. */
    static Map<String, Rule> rules() throws IOException {
        Map<String, Rule> rules = new LinkedHashMap<>();
        String name = "";
        String comment = "";
        for (String line : Files.readAllLines(MetricsDocTest.docs().resolve("metrics/alerts.yml"))) {
            String text = line.strip();
            if (text.startsWith("#")) {
                comment = text;
            } else if (text.startsWith("- alert: ")) {
                name = text.substring("- alert: ".length());
                rules.put(name, new Rule("", "", comment));
                comment = "";
            } else if (text.startsWith("expr: ")) {
                rules.put(name, new Rule(text.substring("expr: ".length()), "", rules.get(name).comment));
            } else if (text.startsWith("summary: ")) {
                rules.put(name, new Rule(rules.get(name).expr, text, rules.get(name).comment));
            }
        }
        return rules;
    }

    @Test
    void everyRule_refersToMetricsAndTagsThatExist() throws IOException {
        assertThat(rules()).hasSizeGreaterThanOrEqualTo(12).allSatisfy((name, rule) -> {
            assertThat(Expressions.problems(rule.expr)).as(name).isEmpty();
            assertThat(rule.text).as(name).isNotEmpty();
            var label = LABEL.matcher(rule.text);
            while (label.find()) {
                assertThat(rule.expr.contains("by (") ? rule.expr : tags(rule.expr))
                        .as("%s: a summary names only what the expression keeps", name)
                        .contains(label.group(1));
            }
        });
    }

    private static String tags(String expression) {
        List<String> tags = new ArrayList<>();
        Expressions.seriesNames().forEach((series, metric) -> {
            if (expression.contains(series)) {
                tags.addAll(metric.tags());
            }
        });
        return String.join(",", tags);
    }

    @Test
    void everyRule_isExplained() throws IOException {
        String page = Files.readString(MetricsDocTest.docs().resolve("metrics.md"));

        assertThat(rules().keySet()).allMatch(name -> page.contains("`" + name + "`"));
    }

    @Test
    void everySilentFailure_hasARule() throws IOException {
        String comments =
                String.join("\n", rules().values().stream().map(Rule::comment).toList());

        assertThat(comments).contains("K-G6", "K-I3", "K-I9", "K-P12", "K-R1", "K-T1", "D-LADDER");
    }
}

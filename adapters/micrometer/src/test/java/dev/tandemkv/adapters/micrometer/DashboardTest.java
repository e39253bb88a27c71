package dev.tandemkv.adapters.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The dashboard asks for nothing that does not exist. */
class DashboardTest {

    private static JsonNode dashboard() throws IOException {
        return new ObjectMapper()
                .readTree(
                        MetricsDocTest.docs().resolve("metrics/dashboard.json").toFile());
    }

    @Test
    void everyExpression_refersToMetricsAndTagsThatExist() throws IOException {
        List<String> expressions = dashboard().findValuesAsText("expr");

        assertThat(expressions)
                .hasSizeGreaterThan(30)
                .allSatisfy(expression -> assertThat(Expressions.problems(expression))
                        .as(expression)
                        .isEmpty());
        assertThat(dashboard().at("/templating/list/1/query/query").asText())
                .isEqualTo("label_values(" + Metric.SELECTIONS.prometheusName() + ", model)");
    }

    @Test
    void panels_haveIdsOfTheirOwnAndDoNotOverlap() throws IOException {
        List<JsonNode> panels = List.copyOf(dashboard().get("panels").findParents("gridPos"));

        assertThat(panels).extracting(panel -> panel.get("id").asInt()).doesNotHaveDuplicates();
        assertThat(panels)
                .extracting(panel -> panel.at("/gridPos/x").asInt() + "/"
                        + panel.at("/gridPos/y").asInt())
                .doesNotHaveDuplicates();
    }

    @Test
    void expressionThatRefersToNothing_isFound() {
        assertThat(Expressions.problems("rate(tandemkv_nothing_total[5m])"))
                .containsExactly("no metric tandemkv_nothing_total", "no metric in: rate(tandemkv_nothing_total[5m])");
        assertThat(Expressions.problems("sum by (colour) (tandemkv_cache_alarm{colour=\"red\"})"))
                .containsExactly(
                        "tandemkv_cache_alarm has no tag colour", "no metric of the expression has the tag colour");
    }
}

package dev.tandemkv.testkit.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.testkit.sim.SimulationResult;
import dev.tandemkv.testkit.sim.WorkerTimeline;
import dev.tandemkv.testkit.trace.Distribution;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HtmlReportTest {

    private static final Distribution TTFT = new Distribution(4_821.4, 1_874, 14_222, 29_734, 31_000);

    private static final SimulationResult RESULT = new SimulationResult(
            new SimulationResult.Traffic(2, 2, Map.of(), new SimulationResult.Tokens(1_000, 250, 12_345), 0),
            new SimulationResult.Latency(new double[] {80, 4_000}, TTFT, TTFT, TTFT),
            0,
            List.of(new WorkerTimeline(
                    "worker-1", 1, new double[] {1, 0.5}, new long[] {0, 1_000}, new long[] {0, 250})),
            60);

    private static String render(String title, String policy) {
        return HtmlReport.render(new ReportContent(
                title,
                List.of("seed 1"),
                List.of(new NamedResult("aggregated-1", policy, null, RESULT)),
                new ReportContent.ExplainedDecision("why", new Table(List.of("worker"), List.of(List.of("w<1>"))))));
    }

    @Test
    void render_page_isSelfContained() {
        String page = render("A run", "kv-aware");

        assertThat(page).doesNotContain("{{").doesNotContain("<link").doesNotContain(" src=");
        assertThat(page.replace("http://www.w3.org", "").replaceAll("https?://github.com/leeoniya/uPlot[^ \\n]*", ""))
                .doesNotContain("http://")
                .doesNotContain("https://");
        assertThat(page).contains("uPlot").contains("MIT License").contains("Leon Sorokin");
        assertThat(page).contains("<td class=\"number\">0.250</td>").contains("<td class=\"number\">4,821</td>");
        assertThat(page).contains("\"hits\":[null,25.00]").contains("\"load\":[1.00,0.50]");
    }

    @Test
    void render_namesWithMarkup_areEscaped() {
        String page = render("<script>alert(1)</script>", "</script><b>");

        assertThat(page)
                .doesNotContain("<script>alert")
                .doesNotContain("</script><b>")
                .contains("w&lt;1&gt;");
    }

    @Test
    void render_twice_givesTheSameBytes() {
        assertThat(render("A run", "kv-aware")).isEqualTo(render("A run", "kv-aware"));
    }

    @Test
    void comparison_oneRun_showsEveryFigure() {
        assertThat(Comparison.of(List.of(new NamedResult("t", "p", "decode-anchored", RESULT)))
                        .rows())
                .containsExactly(List.of(
                        "t",
                        "p",
                        "decode-anchored",
                        "0.250",
                        "4,821",
                        "1,874",
                        "14,222",
                        "29,734",
                        "4821.4",
                        "12,345",
                        "0"));
    }

    @Test
    void content_noRuns_isRefused() {
        assertThatThrownBy(() -> new ReportContent("t", List.of(), List.of(), null))
                .hasMessageContaining("runs: none");
    }
}

package dev.tandemkv.testkit.report;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a report is about.
 *
 * @param title heading
 * @param facts what was simulated, one line each
 * @param runs what came out; at least one
 * @param decision one decision explained, or {@code null}
 */
public record ReportContent(
        String title,
        List<String> facts,
        List<NamedResult> runs,
        @Nullable ExplainedDecision decision) {

    /**
     * One request, and why it went where it went.
     *
     * @param caption which request, and what was decided
     * @param candidates every worker with the terms of its cost
     */
    public record ExplainedDecision(String caption, Table candidates) {

        public ExplainedDecision {
            Objects.requireNonNull(caption, "caption");
            Objects.requireNonNull(candidates, "candidates");
        }
    }

    public ReportContent {
        Objects.requireNonNull(title, "title");
        facts = List.copyOf(facts);
        runs = List.copyOf(runs);
        if (runs.isEmpty()) {
            throw new IllegalArgumentException("runs: none (expected: >= 1)");
        }
    }
}

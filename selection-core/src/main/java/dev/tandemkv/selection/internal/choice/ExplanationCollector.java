package dev.tandemkv.selection.internal.choice;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.ExclusionReason;
import dev.tandemkv.selection.explain.Explanation;
import dev.tandemkv.selection.explain.Explanation.Candidate;
import dev.tandemkv.selection.explain.Explanation.Exclusion;
import dev.tandemkv.selection.policy.PolicyContext;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Gathers the explanation of one decision; exists only for a decision that is to be explained, so that the others pay nothing. Serves
 * the pipeline as {@link ChoicePipeline.Rejections}.
 */
public final class ExplanationCollector implements ChoicePipeline.Rejections {

    private final CandidateTable table;
    private final int limit;
    private final List<Exclusion> excluded = new ArrayList<>();
    private int omittedExclusions;

    /** @param limit most candidates, and most exclusions, that are listed; at least 1 */
    public ExplanationCollector(CandidateTable table, int limit) {
        if (limit < 1) {
            throw new IllegalArgumentException("limit: " + limit + " (expected: >= 1)");
        }
        this.table = table;
        this.limit = limit;
    }

    /** Notes a rank that never became a candidate. */
    public void excluded(WorkerRank worker, ExclusionReason reason) {
        note(worker, reason, null);
    }

    @Override
    public void rejected(int row, String filter) {
        note(table.worker(row), ExclusionReason.FILTERED, filter);
    }

    private void note(WorkerRank worker, ExclusionReason reason, @Nullable String filter) {
        if (excluded.size() < limit) {
            excluded.add(new Exclusion(worker, reason, filter));
        } else {
            omittedExclusions++;
        }
    }

    /**
     * The explanation, after the pipeline picked.
     *
     * @param costs as {@link ChoicePipeline#score} answered
     * @param chosen the row that was picked
     */
    public Explanation finish(
            String policy, ChoicePipeline pipeline, PolicyContext context, double[] costs, int chosen) {
        int size = table.size();
        List<Candidate> candidates = new ArrayList<>(Math.min(size, limit));
        for (int row : listed(costs, size, chosen)) {
            candidates.add(new Candidate(
                    table.worker(row),
                    costs[row],
                    table.deviceBlocks(row),
                    table.hostBlocks(row),
                    table.diskBlocks(row),
                    pipeline.explain(context, row)));
        }
        excluded.sort(Comparator.comparing(Exclusion::worker, WorkerRank.UNSIGNED_ORDER));
        return new Explanation(
                policy,
                table.worker(chosen),
                ties(costs, size),
                candidates,
                excluded,
                size - candidates.size(),
                omittedExclusions);
    }

    /** The chosen row and the cheapest others, in the order of the table. */
    private int[] listed(double[] costs, int size, int chosen) {
        if (size <= limit) {
            return IntStream.range(0, size).toArray();
        }
        IntStream others = IntStream.range(0, size)
                .filter(row -> row != chosen)
                .boxed()
                .sorted(Comparator.comparingDouble(row -> costs[row]))
                .limit(limit - 1L)
                .mapToInt(Integer::intValue);
        return IntStream.concat(IntStream.of(chosen), others).sorted().toArray();
    }

    private static int ties(double[] costs, int size) {
        double lowest = Double.POSITIVE_INFINITY;
        int ties = 0;
        for (int row = 0; row < size; row++) {
            if (costs[row] < lowest) {
                lowest = costs[row];
                ties = 0;
            }
            ties += costs[row] == lowest ? 1 : 0;
        }
        return ties;
    }
}

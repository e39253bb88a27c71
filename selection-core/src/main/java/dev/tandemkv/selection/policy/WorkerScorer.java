package dev.tandemkv.selection.policy;

/** Gives each candidate a cost, lower is better. The costs of several scorers are added. */
@FunctionalInterface
public interface WorkerScorer extends PolicyComponent {

    /**
     * Writes the cost of each row.
     *
     * @param costs receives one finite number for each row of {@code candidates}; longer than that, and holds no meaning before
     */
    void score(PolicyContext context, Candidates candidates, double[] costs);

    /**
     * The terms of one row's cost, for an explanation; called with the candidates that were scored. By default the cost itself is the
     * only term.
     *
     * @param cost what {@link #score} wrote for the row
     */
    default CostTerms explain(PolicyContext context, Candidates candidates, int row, double cost) {
        return CostTerms.opaque(cost);
    }
}

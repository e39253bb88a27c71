package dev.tandemkv.selection.policy;

import java.util.random.RandomGenerator;

/** Takes one of the candidates that the filters left. */
@FunctionalInterface
public interface WorkerPicker extends PolicyComponent {

    /**
     * Chooses a row.
     *
     * @param candidates at least one
     * @param costs sum of the scorers for each row, all finite; 0 without a scorer; not to be changed
     * @param random the partition's generator; the only source of chance, so that a seed repeats a run
     * @return a row of {@code candidates}
     */
    int pick(PolicyContext context, Candidates candidates, double[] costs, RandomGenerator random);
}

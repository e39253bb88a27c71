package dev.tandemkv.benchmarks;

import dev.tandemkv.benchmarks.report.Run;

/** One workload: measures all its cases into a run. */
@FunctionalInterface
public interface Workload {

    /**
     * @param run receives the cells
     * @param repetitions counted repetitions, each on a fresh index; warm-up repetitions come on top
     */
    void measure(Run run, int repetitions) throws Exception;
}

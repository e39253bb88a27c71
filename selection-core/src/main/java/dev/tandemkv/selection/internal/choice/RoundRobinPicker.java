package dev.tandemkv.selection.internal.choice;

import dev.tandemkv.selection.policy.Candidates;
import dev.tandemkv.selection.policy.PolicyContext;
import dev.tandemkv.selection.policy.WorkerPicker;
import java.util.random.RandomGenerator;

/**
 * The next rank after the last one chosen, in unsigned order of worker id and rank, from the start again at the end. It remembers the
 * rank and not a position, so that ranks that come and go do not shift the turn of the others.
 */
final class RoundRobinPicker implements WorkerPicker {

    private boolean started;
    private long lastWorker;
    private int lastRank;

    @Override
    public String name() {
        return "round-robin";
    }

    @Override
    public int pick(PolicyContext context, Candidates candidates, double[] costs, RandomGenerator random) {
        int first = 0;
        int next = -1;
        for (int row = 0; row < candidates.size(); row++) {
            long worker = candidates.workerId(row);
            int rank = candidates.rank(row);
            if (compare(worker, rank, candidates.workerId(first), candidates.rank(first)) < 0) {
                first = row;
            }
            if (started
                    && compare(worker, rank, lastWorker, lastRank) > 0
                    && (next < 0 || compare(worker, rank, candidates.workerId(next), candidates.rank(next)) < 0)) {
                next = row;
            }
        }
        int chosen = next < 0 ? first : next;
        started = true;
        lastWorker = candidates.workerId(chosen);
        lastRank = candidates.rank(chosen);
        return chosen;
    }

    private static int compare(long workerA, int rankA, long workerB, int rankB) {
        int byWorker = Long.compareUnsigned(workerA, workerB);
        return byWorker != 0 ? byWorker : Integer.compareUnsigned(rankA, rankB);
    }
}

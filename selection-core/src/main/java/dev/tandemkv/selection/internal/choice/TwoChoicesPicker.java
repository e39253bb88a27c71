package dev.tandemkv.selection.internal.choice;

import dev.tandemkv.selection.policy.Candidates;
import dev.tandemkv.selection.policy.PolicyContext;
import dev.tandemkv.selection.policy.WorkerPicker;
import java.util.random.RandomGenerator;

/** The cheaper of two different rows drawn at random; the first drawn of equals. */
final class TwoChoicesPicker implements WorkerPicker {

    @Override
    public String name() {
        return "two-choices";
    }

    @Override
    public int pick(PolicyContext context, Candidates candidates, double[] costs, RandomGenerator random) {
        int size = candidates.size();
        if (size == 1) {
            return 0;
        }
        int first = random.nextInt(size);
        int second = random.nextInt(size - 1);
        second += second >= first ? 1 : 0;
        return costs[second] < costs[first] ? second : first;
    }
}

package dev.tandemkv.selection.internal.choice;

import dev.tandemkv.selection.policy.Candidates;
import dev.tandemkv.selection.policy.PolicyContext;
import dev.tandemkv.selection.policy.PolicyInput;
import dev.tandemkv.selection.policy.StickyConfig;
import dev.tandemkv.selection.policy.WorkerPicker;
import java.util.Objects;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * The cheapest of the warm rows, or of all rows once the least queued of the warm ones has {@code saturationTokens} more to prefill than
 * the least queued of all.
 */
final class StickyPicker implements WorkerPicker {

    private final StickyConfig config;
    private double[] allowed = new double[16];

    StickyPicker(StickyConfig config) {
        this.config = config;
    }

    @Override
    public String name() {
        return "sticky";
    }

    @Override
    public Set<PolicyInput> inputs() {
        return Set.of(PolicyInput.CACHE, PolicyInput.LOAD);
    }

    @Override
    public int pick(PolicyContext context, Candidates candidates, double[] costs, RandomGenerator random) {
        Candidates.Cache cache = Objects.requireNonNull(candidates.cache());
        Candidates.Load load = Objects.requireNonNull(candidates.load());
        int size = candidates.size();
        double warmTokens = config.minMatchFraction() * context.islTokens();
        double leastQueued = Double.POSITIVE_INFINITY;
        double leastQueuedWarm = Double.POSITIVE_INFINITY;
        for (int row = 0; row < size; row++) {
            double queued = load.activePrefillTokens(row);
            leastQueued = Math.min(leastQueued, queued);
            if (cache.cachedTokens(row) >= warmTokens) {
                leastQueuedWarm = Math.min(leastQueuedWarm, queued);
            }
        }
        if (leastQueuedWarm - leastQueued > config.saturationTokens()) {
            return CostPicker.lowest(costs, size, random);
        }
        return CostPicker.lowest(onlyWarm(cache, warmTokens, costs, size), size, random);
    }

    /** The costs, with an infinite one for every row that is not warm. */
    private double[] onlyWarm(Candidates.Cache cache, double warmTokens, double[] costs, int size) {
        if (allowed.length < size) {
            allowed = new double[Math.max(size, allowed.length * 2)];
        }
        for (int row = 0; row < size; row++) {
            allowed[row] = cache.cachedTokens(row) >= warmTokens ? costs[row] : Double.POSITIVE_INFINITY;
        }
        return allowed;
    }
}

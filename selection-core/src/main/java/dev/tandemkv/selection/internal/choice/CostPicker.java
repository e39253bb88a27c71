package dev.tandemkv.selection.internal.choice;

import dev.tandemkv.selection.policy.Candidates;
import dev.tandemkv.selection.policy.PolicyContext;
import dev.tandemkv.selection.policy.WorkerPicker;
import java.util.random.RandomGenerator;

/**
 * Picks by cost: at temperature 0 the lowest, above 0 by chance, {@code exp(-x / temperature)} with x the cost scaled to 0..1 between
 * the lowest and the highest.
 */
final class CostPicker implements WorkerPicker {

    private final double temperature;
    private final KvCost.Overrides overrides;
    private double[] weights = new double[16];

    CostPicker(double temperature, KvCost.Overrides overrides) {
        this.temperature = temperature;
        this.overrides = overrides;
    }

    @Override
    public String name() {
        return "cost-picker";
    }

    @Override
    public int pick(PolicyContext context, Candidates candidates, double[] costs, RandomGenerator random) {
        Double override = overrides == KvCost.Overrides.HONOURED
                ? context.request().override().routerTemperature()
                : null;
        double t = override == null ? temperature : override;
        return t > 0 ? sample(costs, candidates.size(), t, random) : lowest(costs, candidates.size(), random);
    }

    /** The lowest cost; of exact ties each equally likely, the k-th replacing the choice with probability 1/k. */
    static int lowest(double[] costs, int size, RandomGenerator random) {
        int chosen = -1;
        int ties = 0;
        double lowest = Double.POSITIVE_INFINITY;
        for (int row = 0; row < size; row++) {
            double cost = costs[row];
            if (cost < lowest) {
                lowest = cost;
                chosen = row;
                ties = 1;
            } else if (cost == lowest && random.nextInt(++ties) == 0) {
                chosen = row;
            }
        }
        return chosen;
    }

    private int sample(double[] costs, int size, double t, RandomGenerator random) {
        if (weights.length < size) {
            weights = new double[Math.max(size, weights.length * 2)];
        }
        double total = weigh(costs, size, t, weights);
        double mark = random.nextDouble() * total;
        double reached = 0;
        for (int row = 0; row < size; row++) {
            reached += weights[row];
            if (reached > mark) {
                return row;
            }
        }
        return size - 1;
    }

    /** Writes the relative chance of each row and answers their sum; safe for costs of any magnitude. */
    static double weigh(double[] costs, int size, double t, double[] weights) {
        double min = Double.POSITIVE_INFINITY;
        double max = Double.NEGATIVE_INFINITY;
        for (int row = 0; row < size; row++) {
            min = Math.min(min, costs[row]);
            max = Math.max(max, costs[row]);
        }
        // A difference beyond the largest double is taken between halves: only the relative position counts.
        double unit = Double.isInfinite(max - min) ? 0.5 : 1;
        double range = max * unit - min * unit;
        double total = 0;
        for (int row = 0; row < size; row++) {
            double position = range > 0 ? (costs[row] * unit - min * unit) / range : 0;
            // Strict, so that a seed gives one sequence on every JDK and processor.
            weights[row] = StrictMath.exp(-position / t);
            total += weights[row];
        }
        return total;
    }
}

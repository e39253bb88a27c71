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

    // For exp: steps of ln 2 / 32, which is kept in two parts; the first has so few bits that its products are exact.
    private static final int STEPS = 32;
    private static final double STEPS_PER_UNIT = STEPS * 1.4426950408889634;
    private static final double STEP_HIGH = 0x1.62e42feep-1 / STEPS;
    private static final double STEP_LOW = 0x1.a39ef35793c76p-33 / STEPS;
    private static final double[] POWERS = powers();

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
        LowestCost lowest = new LowestCost();
        lowest.find(costs, candidates.size());
        return pick(context, candidates.size(), costs, lowest, random);
    }

    /** As the other, with the lowest of the costs found before. */
    int pick(PolicyContext context, int size, double[] costs, LowestCost lowest, RandomGenerator random) {
        Double override = overrides == KvCost.Overrides.HONOURED
                ? context.request().override().routerTemperature()
                : null;
        double t = override == null ? temperature : override;
        return t > 0 ? sample(costs, size, t, random) : lowest.draw(costs, random);
    }

    /** The lowest cost; of exact ties one, each equally likely, with a single draw. */
    static int lowest(double[] costs, int size, RandomGenerator random) {
        LowestCost lowest = new LowestCost();
        lowest.find(costs, size);
        return lowest.draw(costs, random);
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
            // Branches that are hardly ever taken; Math.min and max make each row wait for the one before.
            if (costs[row] < min) {
                min = costs[row];
            }
            if (costs[row] > max) {
                max = costs[row];
            }
        }
        // A difference beyond the largest double is taken between halves: only the relative position counts.
        double unit = Double.isInfinite(max - min) ? 0.5 : 1;
        double range = max * unit - min * unit;
        double total = 0;
        for (int row = 0; row < size; row++) {
            double position = range > 0 ? (costs[row] * unit - min * unit) / range : 0;
            weights[row] = exp(-position / t);
            total += weights[row];
        }
        return total;
    }

    /**
     * {@code e^x} for x of 0 and less, within 1e-15 of its size. Plain arithmetic, so that a seed gives one sequence on every JDK and
     * processor, which {@link Math#exp} does not promise; {@link StrictMath#exp} does and takes far longer.
     *
     * <p>{@code x = n ln 2 / 32 + r} with r within half a step: a power of two, one of 32 factors, and the series of {@code e^r}.
     */
    static double exp(double x) {
        if (x < -708) {
            return 0;
        }
        long n = (long) (x * STEPS_PER_UNIT - 0.5);
        double r = x - n * STEP_HIGH - n * STEP_LOW;
        double series = 1 + r * (1 + r * (1 / 2. + r * (1 / 6. + r * (1 / 24. + r * (1 / 120. + r * (1 / 720.))))));
        double power = Double.longBitsToDouble((Math.floorDiv(n, STEPS) + 1023) << 52);
        return power * POWERS[(int) (n & (STEPS - 1))] * series;
    }

    private static double[] powers() {
        double[] powers = new double[STEPS];
        for (int i = 0; i < STEPS; i++) {
            powers[i] = StrictMath.pow(2, i / (double) STEPS);
        }
        return powers;
    }
}

package dev.tandemkv.selection.internal.choice;

import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.policy.Candidates;
import dev.tandemkv.selection.policy.CostTerms;
import dev.tandemkv.selection.policy.PolicyContext;
import dev.tandemkv.selection.policy.PolicyInput;
import dev.tandemkv.selection.policy.WorkerScorer;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The built-in cost, in blocks.
 *
 * <pre>
 * rawPrefill  = (active prefill tokens + isl) / B                       0 where prefill is not tracked
 * credit      = overlapScoreCredit * decay * device + hostWeight * host + diskWeight * disk + sharedMultiplier * shared
 * decay       = 1 / (1 + creditDecay * ((active prefill - least active prefill) / B) / request blocks)
 * cost        = prefillLoadScale * max(0, rawPrefill - credit) + potential decode + requestWeight * requests
 * </pre>
 *
 * <p>A request without prefill tracking and with credit costs {@code max(0, potential decode - credit) + requestWeight * requests}: that
 * is a decode pool, where a hit saves blocks and not prefill. Preferred taints scale the cost by {@code exp(-tanh(weight))}.
 */
final class KvCost implements WorkerScorer {

    /** Whether a request may change the weights. */
    enum Overrides {
        HONOURED,
        IGNORED
    }

    private final ScoringConfig scoring;
    private final Overrides overrides;
    /** Credit of each row while a decision is scored. */
    private double[] credit = new double[16];

    KvCost(ScoringConfig scoring, Overrides overrides) {
        this.scoring = scoring;
        this.overrides = overrides;
    }

    @Override
    public String name() {
        return "kv-cost";
    }

    @Override
    public Set<PolicyInput> inputs() {
        EnumSet<PolicyInput> inputs = EnumSet.of(PolicyInput.CACHE, PolicyInput.LOAD, PolicyInput.PREFERRED_TAINT);
        if (scoring.decodeActiveRequestWeight() > 0) {
            inputs.add(PolicyInput.ACTIVE_REQUEST_LOAD);
        }
        return inputs;
    }

    /**
     * Runs over every candidate of every decision: so it reads the table's columns themselves, and goes over them in plain loops, each of which
     * the compiler can run on vectors. A column that is 0 everywhere changes no bit of a sum and is left out.
     */
    @Override
    public void score(PolicyContext context, Candidates candidates, double[] costs) {
        CandidateTable table = ((TableView) candidates).table();
        RouterConfigOverride override = overrideOf(context);
        double deviceWeight = or(override.overlapScoreCredit(), scoring.overlapScoreCredit());
        double scale = or(override.prefillLoadScale(), scoring.prefillLoadScale());
        boolean decodeOnly = decodeOnly(context, deviceWeight);
        int size = table.size();
        if (context.tracksPrefill()) {
            prefillBlocks(table.activePrefill, (double) context.islTokens(), context.blockSize(), costs, size);
        } else if (decodeOnly) {
            System.arraycopy(table.potentialDecode, 0, costs, 0, size);
        } else {
            Arrays.fill(costs, 0, size, 0);
        }
        if (table.anyTier() || table.anyShared()) {
            subtractCredit(context, table, deviceWeight, costs, size);
        }
        if (!decodeOnly) {
            addDecode(scale, table.potentialDecode, costs, size);
        }
        if (scoring.decodeActiveRequestWeight() > 0) {
            addWeighted(scoring.decodeActiveRequestWeight(), table.requests, costs, size);
        }
        if (prefersTaints(candidates)) {
            for (int row = 0; row < size; row++) {
                costs[row] *= taintFactor(candidates, row);
            }
        }
    }

    private static void prefillBlocks(double[] active, double isl, int blockSize, double[] into, int size) {
        if (Integer.bitCount(blockSize) == 1) {
            // The inverse of a power of two is exact, so the product is the quotient bit for bit, in a fraction of the
            // time.
            double blocksOfToken = 1.0 / blockSize;
            for (int row = 0; row < size; row++) {
                into[row] = (active[row] + isl) * blocksOfToken;
            }
            return;
        }
        double tokens = blockSize;
        for (int row = 0; row < size; row++) {
            into[row] = (active[row] + isl) / tokens;
        }
    }

    private void subtractCredit(
            PolicyContext context, CandidateTable table, double deviceWeight, double[] blocks, int size) {
        if (credit.length < size) {
            credit = new double[Math.max(size, credit.length * 2)];
        }
        double[] sum = credit;
        if (decays(context)) {
            decayedDevice(context, table, deviceWeight, sum, size);
        } else {
            double[] device = table.device;
            for (int row = 0; row < size; row++) {
                sum[row] = deviceWeight * device[row];
            }
        }
        if (table.anyLowerTier()) {
            addWeighted(scoring.hostCacheHitWeight(), table.host, sum, size);
            addWeighted(scoring.diskCacheHitWeight(), table.disk, sum, size);
        }
        if (table.anyShared()) {
            addWeighted(
                    or(overrideOf(context).sharedCacheMultiplier(), scoring.sharedCacheMultiplier()),
                    table.shared,
                    sum,
                    size);
        }
        for (int row = 0; row < size; row++) {
            blocks[row] = atLeast0(blocks[row] - sum[row]);
        }
    }

    private void decayedDevice(
            PolicyContext context, CandidateTable table, double deviceWeight, double[] into, int size) {
        double[] active = table.activePrefill;
        double[] device = table.device;
        double least = leastPrefill(table);
        double decay = scoring.overlapScoreCreditDecay();
        double blockSize = context.blockSize();
        double requestBlocks = (double) context.requestBlocks();
        for (int row = 0; row < size; row++) {
            into[row] = deviceWeight * decay(decay, (active[row] - least) / blockSize, requestBlocks) * device[row];
        }
    }

    private static void addWeighted(double weight, double[] column, double[] sum, int size) {
        for (int row = 0; row < size; row++) {
            sum[row] += weight * column[row];
        }
    }

    private static void addDecode(double scale, double[] potential, double[] costs, int size) {
        for (int row = 0; row < size; row++) {
            costs[row] = scale * costs[row] + potential[row];
        }
    }

    @Override
    public CostTerms explain(PolicyContext context, Candidates candidates, int row, double cost) {
        CandidateTable table = ((TableView) candidates).table();
        RouterConfigOverride override = overrideOf(context);
        double deviceWeight = or(override.overlapScoreCredit(), scoring.overlapScoreCredit());
        double isl = context.islTokens();
        double active = table.activePrefill[row];
        return new KvCostTerms(
                context.tracksPrefill() ? (active + isl) / context.blockSize() : 0,
                deviceWeight,
                decays(context)
                        ? decay(
                                scoring.overlapScoreCreditDecay(),
                                (active - leastPrefill(table)) / context.blockSize(),
                                (double) context.requestBlocks())
                        : 1,
                table.deviceBlocks(row),
                scoring.hostCacheHitWeight(),
                table.hostBlocks(row),
                scoring.diskCacheHitWeight(),
                table.diskBlocks(row),
                or(override.sharedCacheMultiplier(), scoring.sharedCacheMultiplier()),
                table.sharedBlocks(row),
                table.potentialDecodeBlocks(row),
                scoring.decodeActiveRequestWeight(),
                table.activeRequests(row),
                or(override.prefillLoadScale(), scoring.prefillLoadScale()),
                decodeOnly(context, deviceWeight),
                prefersTaints(candidates) ? taintFactor(candidates, row) : 1);
    }

    /** The formula, apart from taints. */
    static double cost(
            double rawPrefill,
            double deviceCredit,
            double hostCredit,
            double diskCredit,
            double sharedCredit,
            double potentialDecode,
            double requestLoad,
            double scale,
            boolean decodeOnly) {
        double blocks = decodeOnly ? potentialDecode : rawPrefill;
        double left = atLeast0(blocks - (deviceCredit + hostCredit + diskCredit + sharedCredit));
        return decodeOnly ? left + requestLoad : scale * left + potentialDecode + requestLoad;
    }

    private static double atLeast0(double blocks) {
        return Math.max(blocks, 0);
    }

    private RouterConfigOverride overrideOf(PolicyContext context) {
        return overrides == Overrides.HONOURED ? context.request().override() : RouterConfigOverride.NONE;
    }

    private static double or(@Nullable Double override, double configured) {
        return override == null ? configured : override;
    }

    private static boolean decodeOnly(PolicyContext context, double deviceWeight) {
        return !context.tracksPrefill() && deviceWeight > 0;
    }

    private boolean decays(PolicyContext context) {
        return context.tracksPrefill() && scoring.overlapScoreCreditDecay() > 0;
    }

    private static double leastPrefill(CandidateTable table) {
        double least = Double.POSITIVE_INFINITY;
        int size = table.size();
        for (int row = 0; row < size; row++) {
            if (table.activePrefill[row] < least) {
                least = table.activePrefill[row];
            }
        }
        return least;
    }

    /** What is left of the device credit of a rank that has so many blocks more to prefill than the least busy one. */
    private static double decay(double decay, double excessBlocks, double requestBlocks) {
        return 1 / (1 + decay * excessBlocks / requestBlocks);
    }

    private static boolean prefersTaints(Candidates candidates) {
        Candidates.PreferredTaints taints = Objects.requireNonNull(candidates.preferredTaints());
        return taints.requested() && !candidates.directed();
    }

    private static double taintFactor(Candidates candidates, int row) {
        double weight = Objects.requireNonNull(candidates.preferredTaints()).weight(row);
        // Strict, so that a seed gives one sequence on every JDK and processor.
        return StrictMath.exp(-StrictMath.tanh(weight));
    }
}

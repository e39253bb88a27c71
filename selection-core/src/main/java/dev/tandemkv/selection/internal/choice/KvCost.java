package dev.tandemkv.selection.internal.choice;

import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.policy.Candidates;
import dev.tandemkv.selection.policy.CostTerms;
import dev.tandemkv.selection.policy.PolicyContext;
import dev.tandemkv.selection.policy.PolicyInput;
import dev.tandemkv.selection.policy.WorkerScorer;
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

    @Override
    public void score(PolicyContext context, Candidates candidates, double[] costs) {
        RouterConfigOverride override = overrideOf(context);
        double deviceWeight = or(override.overlapScoreCredit(), scoring.overlapScoreCredit());
        double scale = or(override.prefillLoadScale(), scoring.prefillLoadScale());
        double sharedWeight = or(override.sharedCacheMultiplier(), scoring.sharedCacheMultiplier());
        double hostWeight = scoring.hostCacheHitWeight();
        double diskWeight = scoring.diskCacheHitWeight();
        double requestWeight = scoring.decodeActiveRequestWeight();
        double isl = context.islTokens();
        double blockSize = context.blockSize();
        boolean tracked = context.tracksPrefill();
        boolean decodeOnly = decodeOnly(context, deviceWeight);
        // The built-in cost runs over every candidate of every decision, so it reads the columns themselves.
        CandidateTable table = ((TableView) candidates).table();
        double[] active = table.activePrefill;
        double[] potential = table.potentialDecode;
        double[] device = table.device;
        double[] host = table.host;
        double[] disk = table.disk;
        double[] shared = table.shared;
        double[] requests = table.requests;
        int size = table.size();
        if (tracked && !decays(context)) {
            // Three plain loops, each of which the compiler can run on vectors.
            for (int row = 0; row < size; row++) {
                costs[row] = uncovered(
                        (active[row] + isl) / blockSize,
                        deviceWeight * device[row],
                        hostWeight * host[row],
                        diskWeight * disk[row],
                        sharedWeight * shared[row]);
            }
            for (int row = 0; row < size; row++) {
                costs[row] = atLeast0(costs[row]);
            }
            for (int row = 0; row < size; row++) {
                costs[row] = sum(scale * costs[row], potential[row], requestWeight * requests[row]);
            }
        } else {
            double least = leastPrefill(table);
            for (int row = 0; row < size; row++) {
                costs[row] = cost(
                        tracked ? (active[row] + isl) / blockSize : 0,
                        deviceWeight * decay(context, active[row], least) * device[row],
                        hostWeight * host[row],
                        diskWeight * disk[row],
                        sharedWeight * shared[row],
                        potential[row],
                        requestWeight * requests[row],
                        scale,
                        decodeOnly);
            }
        }
        if (prefersTaints(candidates)) {
            for (int row = 0; row < candidates.size(); row++) {
                costs[row] *= taintFactor(candidates, row);
            }
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
                decay(context, active, leastPrefill(table)),
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
        double left = atLeast0(uncovered(blocks, deviceCredit, hostCredit, diskCredit, sharedCredit));
        return decodeOnly ? left + requestLoad : sum(scale * left, potentialDecode, requestLoad);
    }

    private static double uncovered(double blocks, double device, double host, double disk, double shared) {
        return blocks - (device + host + disk + shared);
    }

    private static double atLeast0(double blocks) {
        return blocks > 0 ? blocks : 0;
    }

    private static double sum(double prefill, double decode, double requestLoad) {
        return prefill + decode + requestLoad;
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

    /** What is left of the device credit; exactly 1 without decay, which changes no bit of a product. */
    private double decay(PolicyContext context, double active, double least) {
        if (!decays(context)) {
            return 1;
        }
        double excessBlocks = (active - least) / context.blockSize();
        return 1 / (1 + scoring.overlapScoreCreditDecay() * excessBlocks / context.requestBlocks());
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

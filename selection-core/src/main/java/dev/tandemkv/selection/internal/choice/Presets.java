package dev.tandemkv.selection.internal.choice;

import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.policy.PolicyComponents;
import dev.tandemkv.selection.policy.PolicyComponents.AffinityUse;
import dev.tandemkv.selection.policy.SelectionPolicy;
import dev.tandemkv.selection.policy.StickyConfig;
import dev.tandemkv.selection.policy.WorkerPicker;
import java.util.List;
import java.util.Objects;

/** The shipped policies, put together. */
public final class Presets {

    private Presets() {}

    public static SelectionPolicy kvAware(ScoringConfig scoring) {
        Objects.requireNonNull(scoring, "scoring");
        return SelectionPolicy.of("kv-aware", scope -> byCost(scoring, KvCost.Overrides.HONOURED));
    }

    public static SelectionPolicy kvAware() {
        return SelectionPolicy.of("kv-aware", scope -> byCost(scope.scoring(), KvCost.Overrides.HONOURED));
    }

    /** The built-in cost as a configured plugin: requests do not override its weights. */
    public static SelectionPolicy fixedKvAware(ScoringConfig scoring) {
        return SelectionPolicy.of("dynamo-default-cost-fn", scope -> byCost(scoring, KvCost.Overrides.IGNORED));
    }

    private static PolicyComponents byCost(ScoringConfig scoring, KvCost.Overrides overrides) {
        return new PolicyComponents(
                List.of(),
                List.of(new KvCost(scoring, overrides)),
                new CostPicker(scoring.routerTemperature(), overrides),
                AffinityUse.EXCLUSIVE);
    }

    public static SelectionPolicy lmetric() {
        return SelectionPolicy.of("lmetric", scope -> PolicyComponents.cheapest(QueueCost.LMETRIC));
    }

    public static SelectionPolicy stickyUntilSaturated(StickyConfig config) {
        Objects.requireNonNull(config, "config");
        return SelectionPolicy.of(
                "sticky-until-saturated",
                scope -> new PolicyComponents(
                        List.of(),
                        List.of(QueueCost.OWN_AND_QUEUED_TOKENS),
                        new StickyPicker(config),
                        AffinityUse.EXCLUSIVE));
    }

    public static SelectionPolicy leastLoaded() {
        return SelectionPolicy.of("least-loaded", scope -> PolicyComponents.cheapest(QueueCost.BOOKED_BLOCKS));
    }

    public static SelectionPolicy fewestRequests() {
        return SelectionPolicy.of("fewest-requests", scope -> PolicyComponents.cheapest(QueueCost.ACTIVE_REQUESTS));
    }

    public static SelectionPolicy leastQueuedTokens() {
        return SelectionPolicy.of("least-queued-tokens", scope -> PolicyComponents.cheapest(QueueCost.QUEUED_TOKENS));
    }

    public static SelectionPolicy roundRobin() {
        return SelectionPolicy.of("round-robin", scope -> PolicyComponents.picking(new RoundRobinPicker()));
    }

    public static SelectionPolicy powerOfTwo() {
        return SelectionPolicy.of(
                "power-of-two",
                scope -> new PolicyComponents(
                        List.of(), List.of(QueueCost.BOOKED_BLOCKS), new TwoChoicesPicker(), AffinityUse.EXCLUSIVE));
    }

    public static WorkerPicker cheapest() {
        return new CostPicker(0, KvCost.Overrides.IGNORED);
    }
}

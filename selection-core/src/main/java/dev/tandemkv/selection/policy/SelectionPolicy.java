package dev.tandemkv.selection.policy;

import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.internal.choice.Presets;
import java.util.Objects;
import java.util.function.Function;

/**
 * A way to choose workers. A policy is a recipe: each partition gets components of its own from it, which may keep state.
 *
 * <p>Exact ties are broken uniformly with the partition's generator, whatever the order of the candidates. Thread-safe.
 *
 * <pre>{@code
 * SelectionPolicy fewest = SelectionPolicy.of("fewest", scope -> PolicyComponents.cheapest(new WorkerScorer() {
 *     public Set<PolicyInput> inputs() {
 *         return Set.of(PolicyInput.ACTIVE_REQUEST_LOAD);
 *     }
 *
 *     public void score(PolicyContext context, Candidates candidates, double[] costs) {
 *         for (int row = 0; row < candidates.size(); row++) {
 *             costs[row] = candidates.requests().activeRequests(row);
 *         }
 *     }
 * }));
 * }</pre>
 */
public interface SelectionPolicy {

    String name();

    /** Makes the components for one partition; called once for each. */
    PolicyComponents componentsFor(PolicyScope scope);

    /** A policy of your own. */
    static SelectionPolicy of(String name, Function<PolicyScope, PolicyComponents> factory) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(factory, "factory");
        record Named(String name, Function<PolicyScope, PolicyComponents> factory) implements SelectionPolicy {
            @Override
            public PolicyComponents componentsFor(PolicyScope scope) {
                return Objects.requireNonNull(factory.apply(scope), "components of policy " + name);
            }
        }

        return new Named(name, factory);
    }

    /**
     * The built-in cost: prefill blocks still to compute, minus credit for what is cached, plus decode blocks. A request may override
     * credit, prefill scale, temperature and shared multiplier. Formula: {@link ScoringConfig} names the weights,
     * <a href="https://github.com/ai-dynamo/dynamo">ai-dynamo/dynamo</a> is where it comes from.
     */
    static SelectionPolicy kvAware(ScoringConfig scoring) {
        return Presets.kvAware(scoring);
    }

    /** The same with the weights configured for the partition. */
    static SelectionPolicy kvAware() {
        return Presets.kvAware();
    }

    /**
     * {@code (queued prefill tokens + own uncached tokens) x (active requests + 1)}, lowest wins: no parameter to tune
     * (arXiv 2603.15202).
     */
    static SelectionPolicy lmetric() {
        return Presets.lmetric();
    }

    /**
     * Stays with the workers that hold most of the prompt until their queue costs more than the hit is worth; among those left, the
     * least queued and own uncached tokens win.
     */
    static SelectionPolicy stickyUntilSaturated(StickyConfig config) {
        return Presets.stickyUntilSaturated(config);
    }

    /** The least booked work, prefill and decode, in blocks; blind to the cache. */
    static SelectionPolicy leastLoaded() {
        return Presets.leastLoaded();
    }

    /** The fewest active requests, however large; blind to the cache. */
    static SelectionPolicy fewestRequests() {
        return Presets.fewestRequests();
    }

    /** The least queued prefill tokens; blind to the cache. */
    static SelectionPolicy leastQueuedTokens() {
        return Presets.leastQueuedTokens();
    }

    /** Each rank in turn, in unsigned order of worker id and rank. */
    static SelectionPolicy roundRobin() {
        return Presets.roundRobin();
    }

    /** The less loaded of two ranks drawn at random; blind to the cache. */
    static SelectionPolicy powerOfTwo() {
        return Presets.powerOfTwo();
    }

    /** The picker that takes the lowest cost. */
    static WorkerPicker cheapest() {
        return Presets.cheapest();
    }
}

package dev.tandemkv.selection.policy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.config.WorkerSelection;
import dev.tandemkv.selection.internal.choice.Presets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Policies by the type name under which a file asks for them. Immutable.
 *
 * <p>The shipped types are {@code kv-aware}, {@code dynamo-default-cost-fn} (the same cost with its own parameters, which no request
 * overrides), {@code lmetric}, {@code sticky-until-saturated}, {@code least-loaded}, {@code fewest-requests}, {@code
 * least-queued-tokens}, {@code round-robin} and {@code power-of-two}.
 */
public final class PolicyRegistry {

    private static final PolicyRegistry STANDARD = new PolicyRegistry(Map.of())
            .with("kv-aware", parameters -> SelectionPolicy.kvAware())
            .with("dynamo-default-cost-fn", parameters -> Presets.fixedKvAware(scoring(parameters)))
            .with("lmetric", parameters -> SelectionPolicy.lmetric())
            .with("sticky-until-saturated", parameters -> SelectionPolicy.stickyUntilSaturated(sticky(parameters)))
            .with("least-loaded", parameters -> SelectionPolicy.leastLoaded())
            .with("fewest-requests", parameters -> SelectionPolicy.fewestRequests())
            .with("least-queued-tokens", parameters -> SelectionPolicy.leastQueuedTokens())
            .with("round-robin", parameters -> SelectionPolicy.roundRobin())
            .with("power-of-two", parameters -> SelectionPolicy.powerOfTwo());

    private final Map<String, PolicyProvider> providers;

    private PolicyRegistry(Map<String, PolicyProvider> providers) {
        this.providers = Map.copyOf(providers);
    }

    /** The shipped policies. */
    public static PolicyRegistry standard() {
        return STANDARD;
    }

    /**
     * These policies and one more.
     *
     * @throws BadRequestException if the type exists already
     */
    public PolicyRegistry with(String type, PolicyProvider provider) {
        Objects.requireNonNull(provider, "provider");
        Map<String, PolicyProvider> more = new TreeMap<>(providers);
        if (more.putIfAbsent(type, provider) != null) {
            throw new BadRequestException("policy type", type, "a type that is not registered yet");
        }
        return new PolicyRegistry(more);
    }

    /**
     * Makes the policy that a file describes.
     *
     * @throws BadRequestException for an unknown type, an unknown parameter or a bad value, naming the field
     */
    public SelectionPolicy create(WorkerSelection.Instance instance) {
        String path = "worker_selection.instances." + instance.name();
        PolicyProvider provider = providers.get(instance.type());
        if (provider == null) {
            throw new BadRequestException(
                    path + ".type", instance.type(), "one of " + new TreeMap<>(providers).keySet());
        }
        PolicyParameters parameters = new PolicyParameters(path + ".parameters", instance.parameters());
        SelectionPolicy policy = createAt(parameters, provider);
        parameters.requireAllRead();
        return policy;
    }

    /** The policy of a role: what the file names for it, else the built-in cost. */
    public SelectionPolicy policyOf(WorkerSelection selection, WorkerSelection.Role role) {
        WorkerSelection.Instance instance = selection.of(role);
        return instance == null ? SelectionPolicy.kvAware() : create(instance);
    }

    /** A value refused by a settings record names only its own field; the path to it is added here. */
    private static SelectionPolicy createAt(PolicyParameters parameters, PolicyProvider provider) {
        try {
            return Objects.requireNonNull(provider.create(parameters), parameters.path());
        } catch (BadRequestException e) {
            if (e.field().startsWith(parameters.path())) {
                throw e;
            }
            throw new BadRequestException(parameters.path() + '.' + e.field(), e.value(), e.expectation());
        }
    }

    private static ScoringConfig scoring(PolicyParameters p) {
        ScoringConfig d = ScoringConfig.DEFAULT;
        return new ScoringConfig(
                p.number("overlap_score_credit", d.overlapScoreCredit()),
                p.number("overlap_score_credit_decay", d.overlapScoreCreditDecay()),
                p.number("prefill_load_scale", d.prefillLoadScale()),
                p.number("decode_active_request_weight", d.decodeActiveRequestWeight()),
                p.number("host_cache_hit_weight", d.hostCacheHitWeight()),
                p.number("disk_cache_hit_weight", d.diskCacheHitWeight()),
                p.number("router_temperature", d.routerTemperature()),
                p.number("shared_cache_multiplier", d.sharedCacheMultiplier()));
    }

    private static StickyConfig sticky(PolicyParameters p) {
        double fraction = p.number("min_match_fraction", StickyConfig.DEFAULT_MATCH_FRACTION);
        Double tokens = p.optionalNumber("saturation_tokens");
        if (tokens != null) {
            return new StickyConfig(fraction, tokens);
        }
        double penalty = p.number("tolerated_penalty_secs", 14);
        if (!(penalty >= 0 && penalty < 1e9)) {
            throw p.error("tolerated_penalty_secs", penalty, ">= 0");
        }
        double tau = StickyConfig.tau(
                p.requiredNumber("peak_prefill_tokens_per_second"), Duration.ofNanos((long) (penalty * 1e9)));
        return new StickyConfig(fraction, tau);
    }
}

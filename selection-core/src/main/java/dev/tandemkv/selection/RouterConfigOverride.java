package dev.tandemkv.selection;

import dev.tandemkv.catalog.BadRequestException;
import org.jspecify.annotations.Nullable;

/**
 * What one request may change of the configuration; {@code null} keeps the configured value.
 *
 * @param overlapScoreCredit weight of device overlap in the ranking; finite, at least 0
 * @param prefillLoadScale weight of the prefill term; finite, at least 0
 * @param routerTemperature 0 picks the cheapest, above 0 samples; finite, at least 0
 * @param assumeKvReuse false gives every block a random tracking hash, so that nothing is shared
 * @param trackPrefillTokens whether prefill load is charged and read
 * @param sharedCacheMultiplier weight of shared-cache hits; 0 to 1
 */
public record RouterConfigOverride(
        @Nullable Double overlapScoreCredit,
        @Nullable Double prefillLoadScale,
        @Nullable Double routerTemperature,
        @Nullable Boolean assumeKvReuse,
        @Nullable Boolean trackPrefillTokens,
        @Nullable Double sharedCacheMultiplier) {

    public static final RouterConfigOverride NONE = new RouterConfigOverride(null, null, null, null, null, null);

    /** @throws BadRequestException naming the field */
    public RouterConfigOverride {
        requireFrom0("overlap_score_credit", overlapScoreCredit);
        requireFrom0("prefill_load_scale", prefillLoadScale);
        requireFrom0("router_temperature", routerTemperature);
        if (sharedCacheMultiplier != null && !(sharedCacheMultiplier >= 0 && sharedCacheMultiplier <= 1)) {
            throw new BadRequestException(
                    "router_config_override.shared_cache_multiplier", sharedCacheMultiplier, "0..1");
        }
    }

    private static void requireFrom0(String field, @Nullable Double value) {
        if (value != null && !(Double.isFinite(value) && value >= 0)) {
            throw new BadRequestException("router_config_override." + field, value, "finite, >= 0");
        }
    }

    public RouterConfigOverride withOverlapScoreCredit(@Nullable Double credit) {
        return new RouterConfigOverride(
                credit, prefillLoadScale, routerTemperature, assumeKvReuse, trackPrefillTokens, sharedCacheMultiplier);
    }

    public RouterConfigOverride withRouterTemperature(@Nullable Double temperature) {
        return new RouterConfigOverride(
                overlapScoreCredit,
                prefillLoadScale,
                temperature,
                assumeKvReuse,
                trackPrefillTokens,
                sharedCacheMultiplier);
    }

    public RouterConfigOverride withPrefillLoadScale(@Nullable Double scale) {
        return new RouterConfigOverride(
                overlapScoreCredit, scale, routerTemperature, assumeKvReuse, trackPrefillTokens, sharedCacheMultiplier);
    }

    public RouterConfigOverride withAssumeKvReuse(@Nullable Boolean assume) {
        return new RouterConfigOverride(
                overlapScoreCredit,
                prefillLoadScale,
                routerTemperature,
                assume,
                trackPrefillTokens,
                sharedCacheMultiplier);
    }

    public RouterConfigOverride withTrackPrefillTokens(@Nullable Boolean track) {
        return new RouterConfigOverride(
                overlapScoreCredit, prefillLoadScale, routerTemperature, assumeKvReuse, track, sharedCacheMultiplier);
    }

    public RouterConfigOverride withSharedCacheMultiplier(@Nullable Double multiplier) {
        return new RouterConfigOverride(
                overlapScoreCredit, prefillLoadScale, routerTemperature, assumeKvReuse, trackPrefillTokens, multiplier);
    }

    /**
     * The former name of two settings, {@code overlap_score_weight}: it is the prefill scale, and 0 also turns the credit off.
     *
     * @param weight finite, at least 0
     * @deprecated use {@link #withPrefillLoadScale} and {@link #withOverlapScoreCredit}
     */
    @Deprecated
    public RouterConfigOverride withOverlapScoreWeight(double weight) {
        requireFrom0("overlap_score_weight", weight);
        RouterConfigOverride scaled = withPrefillLoadScale(weight);
        return weight == 0 ? scaled.withOverlapScoreCredit(0.0) : scaled;
    }
}

package dev.tandemkv.selection.config;

import org.jspecify.annotations.Nullable;

/**
 * Weights of the built-in cost. A request may override credit, scale, temperature and shared multiplier.
 *
 * @param overlapScoreCredit weight of device overlap in the ranking; at least 0, 0 ignores the device cache; default 1
 * @param overlapScoreCreditDecay how fast the credit of a busy worker fades; at least 0; default 0
 * @param prefillLoadScale weight of the prefill term; at least 0; default 1
 * @param decodeActiveRequestWeight blocks that each active request costs; at least 0; default 0
 * @param hostCacheHitWeight worth of a block in host memory, against 1 on the device; 0 to 1; default 0.75
 * @param diskCacheHitWeight worth of a block on disk or in an external store; 0 to 1; default 0.25
 * @param routerTemperature 0 picks the cheapest, above 0 samples; at least 0; default 0
 * @param sharedCacheMultiplier weight of shared-cache hits; 0 to 1; default 0
 */
public record ScoringConfig(
        double overlapScoreCredit,
        double overlapScoreCreditDecay,
        double prefillLoadScale,
        double decodeActiveRequestWeight,
        double hostCacheHitWeight,
        double diskCacheHitWeight,
        double routerTemperature,
        double sharedCacheMultiplier) {

    public static final ScoringConfig DEFAULT = new ScoringConfig(1, 0, 1, 0, 0.75, 0.25, 0, 0);

    public ScoringConfig {
        Check.from0("overlap_score_credit", overlapScoreCredit);
        Check.from0("overlap_score_credit_decay", overlapScoreCreditDecay);
        Check.from0("prefill_load_scale", prefillLoadScale);
        Check.from0("decode_active_request_weight", decodeActiveRequestWeight);
        Check.from0To1("host_cache_hit_weight", hostCacheHitWeight);
        Check.from0To1("disk_cache_hit_weight", diskCacheHitWeight);
        Check.from0("router_temperature", routerTemperature);
        Check.from0To1("shared_cache_multiplier", sharedCacheMultiplier);
    }

    /** The values on their way into such a record; they begin as the defaults. */
    static final class Draft {
        double overlapScoreCredit = 1.0;
        double overlapScoreCreditDecay = 0.0;
        double prefillLoadScale = 1.0;
        double decodeActiveRequestWeight = 0.0;
        double hostCacheHitWeight = 0.75;
        double diskCacheHitWeight = 0.25;
        double routerTemperature = 0.0;

        @Nullable
        Double sharedCacheMultiplier;

        Draft() {}

        Draft(ScoringConfig c) {
            overlapScoreCredit = c.overlapScoreCredit();
            overlapScoreCreditDecay = c.overlapScoreCreditDecay();
            prefillLoadScale = c.prefillLoadScale();
            decodeActiveRequestWeight = c.decodeActiveRequestWeight();
            hostCacheHitWeight = c.hostCacheHitWeight();
            diskCacheHitWeight = c.diskCacheHitWeight();
            routerTemperature = c.routerTemperature();
            sharedCacheMultiplier = c.sharedCacheMultiplier();
        }

        /** @param shared the weight of the shared cache where none was given */
        ScoringConfig build(double shared) {
            return new ScoringConfig(
                    overlapScoreCredit,
                    overlapScoreCreditDecay,
                    prefillLoadScale,
                    decodeActiveRequestWeight,
                    hostCacheHitWeight,
                    diskCacheHitWeight,
                    routerTemperature,
                    sharedCacheMultiplier == null ? shared : sharedCacheMultiplier);
        }
    }
}

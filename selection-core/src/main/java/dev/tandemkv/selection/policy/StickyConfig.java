package dev.tandemkv.selection.policy;

import dev.tandemkv.catalog.BadRequestException;
import java.time.Duration;

/**
 * When "sticky until saturated" stays with the workers that hold most of a prompt.
 *
 * @param minMatchFraction a worker is warm if it caches at least this share of the prompt's tokens; above 0, at most 1; default 0.8
 * @param saturationTokens the warm workers are left once the least queued of them has this many more queued prefill tokens than the
 *     least queued of all; at least 0. Depends on model, accelerator and engine: calibrate it with {@link #tau}
 */
public record StickyConfig(double minMatchFraction, double saturationTokens) {

    /** Share of the prompt that makes a worker warm, unless said otherwise. */
    public static final double DEFAULT_MATCH_FRACTION = 0.8;

    /** @throws BadRequestException naming the field */
    public StickyConfig {
        if (!(minMatchFraction > 0 && minMatchFraction <= 1)) {
            throw new BadRequestException("min_match_fraction", minMatchFraction, "> 0, <= 1");
        }
        if (!(Double.isFinite(saturationTokens) && saturationTokens >= 0)) {
            throw new BadRequestException("saturation_tokens", saturationTokens, "finite, >= 0");
        }
    }

    /** The default match fraction, and the saturation that {@link #tau} gives. */
    public static StickyConfig calibrated(double peakPrefillTokensPerSecond, Duration toleratedPenalty) {
        return new StickyConfig(DEFAULT_MATCH_FRACTION, tau(peakPrefillTokensPerSecond, toleratedPenalty));
    }

    /**
     * How many queued tokens a cache hit is worth waiting for: {@code peak x penalty}. The peak is one measured chunk of B tokens that
     * took T seconds, {@code B / T}; it does not carry over to another model, accelerator, engine or chunk size.
     *
     * @param peakPrefillTokensPerSecond above 0
     * @param toleratedPenalty how much later the first token may come for staying warm; at least 0
     * @throws BadRequestException naming the field
     */
    public static double tau(double peakPrefillTokensPerSecond, Duration toleratedPenalty) {
        if (!(Double.isFinite(peakPrefillTokensPerSecond) && peakPrefillTokensPerSecond > 0)) {
            throw new BadRequestException("peak_prefill_tokens_per_second", peakPrefillTokensPerSecond, "finite, > 0");
        }
        if (toleratedPenalty.isNegative()) {
            throw new BadRequestException("tolerated_penalty", toleratedPenalty, ">= 0");
        }
        return peakPrefillTokensPerSecond * (toleratedPenalty.getSeconds() + toleratedPenalty.getNano() / 1e9);
    }
}

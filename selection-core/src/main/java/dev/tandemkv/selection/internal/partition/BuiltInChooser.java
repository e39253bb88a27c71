package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.config.ScoringConfig;
import java.util.random.RandomGenerator;

/** The cheapest candidate by the built-in cost; exact ties uniformly. */
final class BuiltInChooser implements Chooser {

    private final ScoringConfig scoring;
    private final int blockSize;

    BuiltInChooser(ScoringConfig scoring, int blockSize) {
        this.scoring = scoring;
        this.blockSize = blockSize;
    }

    @Override
    public int choose(Attempt attempt, Candidates candidates, RandomGenerator random) {
        RouterConfigOverride override = attempt.request().override();
        double credit =
                override.overlapScoreCredit() == null ? scoring.overlapScoreCredit() : override.overlapScoreCredit();
        double scale = override.prefillLoadScale() == null ? scoring.prefillLoadScale() : override.prefillLoadScale();
        long isl = attempt.prompt().islTokens();
        int best = 0;
        double least = Double.POSITIVE_INFINITY;
        int ties = 0;
        for (int i = 0; i < candidates.count(); i++) {
            double held = credit * candidates.deviceBlocks(i)
                    + scoring.hostCacheHitWeight() * candidates.hostBlocks(i)
                    + scoring.diskCacheHitWeight() * candidates.diskBlocks(i);
            double cost;
            if (attempt.trackPrefill()) {
                double raw = ((double) candidates.activePrefillTokens(i) + isl) / blockSize;
                cost = scale * Math.max(0, raw - held) + candidates.potentialDecodeBlocks(i);
            } else {
                cost = Math.max(0, candidates.potentialDecodeBlocks(i) - (credit > 0 ? held : 0));
            }
            cost += scoring.decodeActiveRequestWeight() * candidates.activeRequests(i);
            if (cost < least) {
                least = cost;
                best = i;
                ties = 1;
            } else if (cost == least && random.nextInt(++ties) == 0) {
                best = i;
            }
        }
        return best;
    }
}

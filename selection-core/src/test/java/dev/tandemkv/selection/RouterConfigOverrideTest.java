package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.prompt;
import static dev.tandemkv.selection.CoreFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerRank;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What one request may change, and what each of it does. */
class RouterConfigOverrideTest {

    private static final RouterConfigOverride NONE = RouterConfigOverride.NONE;

    @Test
    @SuppressWarnings("deprecation") // the former name is what is tested
    void overlapScoreWeight_isTheScaleAndZeroAlsoTheCredit() {
        assertThat(NONE.withOverlapScoreWeight(2))
                .isEqualTo(new RouterConfigOverride(null, 2.0, null, null, null, null));
        assertThat(NONE.withOverlapScoreWeight(0))
                .isEqualTo(new RouterConfigOverride(0.0, 0.0, null, null, null, null));
        for (double bad : new double[] {-1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> NONE.withOverlapScoreWeight(bad))
                    .isInstanceOf(BadRequestException.class)
                    .hasMessageContaining("router_config_override.overlap_score_weight");
        }
    }

    @Test
    void kO3_everyNumber_refusesWhatIsNone() {
        for (double bad : new double[] {-0.1, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            assertRefused("overlap_score_credit", () -> NONE.withOverlapScoreCredit(bad));
            assertRefused("prefill_load_scale", () -> NONE.withPrefillLoadScale(bad));
            assertRefused("router_temperature", () -> NONE.withRouterTemperature(bad));
            assertRefused("shared_cache_multiplier", () -> NONE.withSharedCacheMultiplier(bad));
        }
        assertRefused("shared_cache_multiplier", () -> NONE.withSharedCacheMultiplier(1.1));
        assertThat(NONE.withOverlapScoreCredit(7.0).overlapScoreCredit()).isEqualTo(7);
    }

    private static void assertRefused(String field, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("router_config_override." + field);
    }

    @Test
    void eachField_isAppliedToItsRequestAlone() {
        CoreFixture f = new CoreFixture().workers(2);
        f.holds(1, prompt(1, 64), 4);
        f.book(request(7, 32).pinnedWorker(WorkerRank.of(1)));
        // Warm: prefill 2 + 4 - 4, decode 2 + 4; cold: prefill 4, decode 4.
        assertThat(f.select(request(1, 64)).worker()).isIn(WorkerRank.of(1), WorkerRank.of(2));
        assertThat(f.select(request(1, 64).override(NONE.withOverlapScoreCredit(0.0)))
                        .worker())
                .isEqualTo(WorkerRank.of(2));
        assertThat(f.select(request(1, 64).override(NONE.withOverlapScoreCredit(1.5)))
                        .worker())
                .isEqualTo(WorkerRank.of(1));
        assertThat(f.select(request(1, 64).override(NONE.withPrefillLoadScale(0.0)))
                        .worker())
                .isEqualTo(WorkerRank.of(2));
        Booking unshared = f.book(request(7, 32)
                .pinnedWorker(WorkerRank.of(1))
                .override(NONE.withAssumeKvReuse(false).withTrackPrefillTokens(false)));
        assertThat(f.load(1)).isEqualTo(new RankLoad(WorkerRank.of(1), 32, 4, 2));
        assertThat(unshared.selection().trackPrefillTokens()).isFalse();
    }
}

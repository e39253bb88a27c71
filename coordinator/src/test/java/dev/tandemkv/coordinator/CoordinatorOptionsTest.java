package dev.tandemkv.coordinator;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.time.SeededRandom;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** kR1: an option that cannot act is refused when the coordinator is built. */
class CoordinatorOptionsTest {

    private final Fixture f = new Fixture();

    /** An option, and the order in which it acts. */
    enum Option {
        PREFILL_FAILURE(b -> b.prefillFailure(PrefillFailurePolicy.BYPASS_ON_DECODE), PlanOrder.DECODE_ANCHORED),
        DECODE_FAILURE(b -> b.decodeFailure(DecodeFailurePolicy.KEEP_FOR_RETRY), PlanOrder.PREFILL_ANCHORED),
        DECODE_RETRIES(
                b -> b.decodeFailure(DecodeFailurePolicy.KEEP_FOR_RETRY).decodeRetries(5), PlanOrder.PREFILL_ANCHORED),
        TRANSFER_COST(b -> b.transferCost(TransferCost.none()), PlanOrder.JOINT),
        RANDOM(b -> b.random(new SeededRandom(1)), PlanOrder.JOINT),
        THRESHOLDS(
                b -> b.policy(DisaggPolicy.islBounding()).thresholds(BusyThresholds.NONE.withDecode(0.5)),
                PlanOrder.DECODE_ANCHORED);

        private final UnaryOperator<DisaggCoordinator.Builder> set;
        private final PlanOrder acts;

        Option(UnaryOperator<DisaggCoordinator.Builder> set, PlanOrder acts) {
            this.set = set;
            this.acts = acts;
        }
    }

    @ParameterizedTest
    @EnumSource
    void kR1_optionOutsideItsOrder_isRefused(Option option) {
        for (PlanOrder order : PlanOrder.values()) {
            DisaggCoordinator.Builder builder = option.set.apply(f.builder().order(order));
            if (order == option.acts) {
                assertThatCode(builder::build).doesNotThrowAnyException();
            } else {
                assertThatIllegalArgumentException().isThrownBy(builder::build);
            }
        }
    }

    @Test
    void kR1_thresholdsThatNobodyReads_areRefused() {
        DisaggCoordinator.Builder decode = f.builder().order(PlanOrder.DECODE_ANCHORED);
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        decode.thresholds(BusyThresholds.NONE.withDecode(0.5)).build());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> decode.policy(DisaggPolicy.islBounding())
                        .thresholds(BusyThresholds.NONE.withPrefill(0.5))
                        .build());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> decode.policy(DisaggPolicy.prefillLoad())
                        .thresholds(BusyThresholds.NONE)
                        .build())
                .withMessageContaining("thresholds.prefill");
    }

    @Test
    void badValues_areNamed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> f.builder().secondLegBound(Duration.ZERO))
                .withMessage("secondLegBound: PT0S (expected: positive)");
        assertThatIllegalArgumentException().isThrownBy(() -> f.builder().maxOpenPlans(0));
        assertThatIllegalArgumentException().isThrownBy(() -> BusyThresholds.NONE.withDecode(Double.NaN));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new FreeRetry(Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ZERO, 1));
        assertThatThrownBy(() -> DisaggRequest.builder("", Fixture.prompt(1)).build())
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("selection_id");
    }

    @Test
    void openPlans_areLimited() {
        DisaggCoordinator c = f.builder().maxOpenPlans(1).build();
        RoutingPlan first = Fixture.plan(c, Fixture.request("a"));
        PlanLimitException e = Fixture.failure(
                c.plan(Fixture.request("b"), dev.tandemkv.catalog.time.CancellationSignal.never()),
                PlanLimitException.class);
        org.assertj.core.api.Assertions.assertThat(e.limit()).isEqualTo(1);
        first.close();
        Fixture.plan(c, Fixture.request("b")).close();
    }
}

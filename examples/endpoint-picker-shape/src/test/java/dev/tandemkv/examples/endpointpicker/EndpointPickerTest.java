package dev.tandemkv.examples.endpointpicker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.DisaggPolicy;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.RoutingPlan;
import dev.tandemkv.selection.SelectionCore;
import java.util.Set;
import org.junit.jupiter.api.Test;

class EndpointPickerTest {

    private final VirtualTime time = new VirtualTime();
    private final SelectionCore prefill = EndpointPicker.pool(time, 1);
    private final SelectionCore decode = EndpointPicker.pool(time, 11);
    private final EndpointPicker picker = new EndpointPicker(DisaggCoordinator.builder(prefill, decode, time)
            .ticker(time)
            .order(PlanOrder.DECODE_ANCHORED)
            .policy(DisaggPolicy.islBounding(128, 2))
            .build());

    private void assertNothingHeld() {
        assertThat(prefill.stats().reservations() + decode.stats().reservations())
                .isZero();
    }

    @Test
    void s86_linkedPlanHasFiveHeaders_bypassThree() throws Exception {
        try (RoutingPlan linked = picker.pick("long", new int[4096], null, CancellationSignal.never());
                RoutingPlan bypass = picker.pick("short", new int[32], null, CancellationSignal.never())) {
            assertThat(EndpointPicker.headers(linked))
                    .hasSize(5)
                    .containsEntry("x-dynamo-routing-mode", "disaggregated");
            assertThat(EndpointPicker.headers(bypass)).hasSize(3).containsEntry("x-dynamo-routing-mode", "aggregated");
            picker.firstBodyBytes(linked);
            picker.firstBodyBytes(bypass);
        }
        assertNothingHeld();
    }

    @Test
    void s87_subsetThatExcludesEveryDecodeWorker_503NothingBooked() {
        Throwable failure =
                catchThrowable(() -> picker.pick("r", new int[64], Set.of(99L), CancellationSignal.never()));
        assertThat(EndpointPicker.status(failure.getCause())).isEqualTo(503);
        assertNothingHeld();
    }

    @Test
    void s88_streamClosedBeforeThePick_nothingHeld() {
        CancellationSignal.Source closed = CancellationSignal.source();
        closed.cancel();
        Throwable failure = catchThrowable(() -> picker.pick("r", new int[64], null, closed));
        assertThat(EndpointPicker.status(failure.getCause())).isEqualTo(499);
        assertNothingHeld();
    }

    @Test
    void s89_completionBeforeTheDetachedPrefillSignal_noErrorNoLeak() throws Exception {
        RoutingPlan plan = picker.pick("r", new int[4096], null, CancellationSignal.never());
        plan.close();
        picker.firstBodyBytes(plan);
        assertNothingHeld();
    }
}

package dev.tandemkv.examples.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.selection.SelectionCore;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;

class FrontendTest {

    @Test
    void serve_dispatchesBothLegsAndHoldsNothingAfterwards() throws Exception {
        VirtualTime time = new VirtualTime();
        SelectionCore prefill = Frontend.pool(time, 1, 2);
        SelectionCore decode = Frontend.pool(time, 11, 2);
        DisaggCoordinator coordinator =
                DisaggCoordinator.builder(prefill, decode, time).ticker(time).build();
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        new Frontend(coordinator, new PrintStream(printed)).serve("r", new int[64], CancellationSignal.never());
        assertThat(printed.toString())
                .contains("r: PREFILL at 10.0.0.", "r: DECODE at 10.0.0.1")
                .contains("[IDLE, PREFILL_COMMITTED, PREFILL_RELEASED, RELEASED]");
        assertThat(coordinator.openPlans()).isEmpty();
        assertThat(prefill.stats().reservations() + decode.stats().reservations())
                .isZero();
    }
}

package dev.tandemkv.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.testkit.trace.Shared;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Arrivals in bursts (Azure's code trace, gaps with a coefficient of variation of 13) at a fleet that is too small for them. */
@Timeout(600) // Seconds of computing each, on a free core.
class BurstTest {

    private static SimulationResult run(Workload workload, @Nullable Double queueThreshold) {
        SelectionConfig config =
                SelectionConfig.builder().queueThreshold(queueThreshold).build();
        return new Simulation(
                        new Topology.Aggregated(2), EngineSetup.DEFAULT, CorePool.with(core -> core.config(config)), 1)
                .run(workload);
    }

    private static double peakLoad(SimulationResult result) {
        return result.workers().stream()
                .mapToDouble(w -> Arrays.stream(w.load()).max().orElse(0))
                .max()
                .orElse(0);
    }

    @Test
    void queueOn_bursts_areServedInTheEndAndKeptOutOfTheEngines() {
        Workload workload = Workload.of(
                Shared.read("azure_llm_2023_code.csv.gz").withPrivateBlocks(512).atRate(3));

        SimulationResult queued = run(workload, 1.0);
        SimulationResult unqueued = run(workload, null);

        for (SimulationResult result : new SimulationResult[] {queued, unqueued}) {
            assertThat(result.traffic().served()).isEqualTo(8_819);
            assertThat(result.traffic().refused()).isEmpty();
            assertThat(result.openBookings()).isZero();
            assertThat(result.traffic().tokens().cached()).isZero();
        }
        assertThat(peakLoad(queued)).isLessThan(0.5 * peakLoad(unqueued));
    }
}

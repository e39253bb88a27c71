package dev.tandemkv.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.coordinator.DisaggPolicy;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.selection.policy.SelectionPolicy;
import dev.tandemkv.testkit.trace.Trace;
import dev.tandemkv.testkit.trace.TraceReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The simulator on the trace that ships with the quickstart: what must hold of every run. */
@Timeout(600) // Seconds of computing each, on a free core.
class SimulationTest {

    private static final Topology EIGHT = new Topology.Aggregated(8);
    private static final Topology.Disaggregated PREFILL_FIRST =
            new Topology.Disaggregated(5, 3, PlanOrder.PREFILL_ANCHORED);
    private static final Topology.Disaggregated DECODE_FIRST =
            new Topology.Disaggregated(5, 3, PlanOrder.DECODE_ANCHORED);

    private static Workload workload;

    @BeforeAll
    static void readTrace() throws IOException {
        Trace trace = TraceReader.read(Path.of(
                System.getProperty("tandemkv.root"),
                "examples/quickstart/src/main/resources/dev/tandemkv/examples/quickstart",
                "mooncake_conversation_first_1000.jsonl.gz"));
        workload = Workload.of(trace);
    }

    private static SimulationResult run(Topology topology, SelectionPolicy policy, EngineSetup engines, long seed) {
        return new Simulation(topology, engines, CorePool.with(core -> core.policy(policy)), seed).run(workload);
    }

    private static SimulationResult run(Topology topology, SelectionPolicy policy) {
        return run(topology, policy, EngineSetup.DEFAULT, 1);
    }

    private static double meanTtft(SimulationResult result) {
        return result.latency().ttft().mean();
    }

    @Test
    void anyTopologyAndPolicy_afterTheLastRequest_leavesNothingBooked() {
        for (Topology topology :
                List.of(EIGHT, PREFILL_FIRST, DECODE_FIRST, DECODE_FIRST.with(DisaggPolicy.islBounding()))) {
            for (SelectionPolicy policy : List.of(
                    SelectionPolicy.roundRobin(),
                    SelectionPolicy.leastLoaded(),
                    SelectionPolicy.lmetric(),
                    SelectionPolicy.kvAware())) {
                SimulationResult result = run(topology, policy);

                assertThat(result.openBookings())
                        .as("%s %s", topology, policy.name())
                        .isZero();
                assertThat(result.traffic().served()).isEqualTo(1_000);
                assertThat(result.traffic().refused()).isEmpty();
            }
        }
    }

    @Test
    void sameSeed_twice_givesTheSameResultToTheBit() {
        for (Topology topology : List.of(EIGHT, PREFILL_FIRST, DECODE_FIRST)) {
            SimulationResult first = run(topology, SelectionPolicy.kvAware(), EngineSetup.DEFAULT, 7);

            assertThat(run(topology, SelectionPolicy.kvAware(), EngineSetup.DEFAULT, 7))
                    .isEqualTo(first);
            assertThat(run(topology, SelectionPolicy.kvAware(), EngineSetup.DEFAULT, 8))
                    .isNotEqualTo(first);
        }
    }

    @Test
    void cacheAwarePolicies_beatRoundRobin() {
        for (Topology topology : List.of(EIGHT, PREFILL_FIRST, DECODE_FIRST)) {
            double blind = meanTtft(run(topology, SelectionPolicy.roundRobin()));

            assertThat(meanTtft(run(topology, SelectionPolicy.kvAware()))).isLessThan(0.8 * blind);
            assertThat(meanTtft(run(topology, SelectionPolicy.lmetric()))).isLessThan(0.8 * blind);
        }
    }

    @Test
    void roundRobin_infiniteCache_hitsWhatTheTraceSaysItCan() {
        SimulationResult result =
                run(EIGHT, SelectionPolicy.roundRobin(), EngineSetup.DEFAULT.withCacheBlocks(1_000_000), 1);

        // 1,602 of 27,305 blocks, less those still being computed when the next request with them is admitted.
        assertThat(result.hitRatio()).isBetween(0.055, 1_602.0 / 27_305 + 0.005);
    }

    @Test
    void workers_overTime_addUpToTheTotals() {
        for (Topology topology : List.of(EIGHT, DECODE_FIRST.with(DisaggPolicy.islBounding()))) {
            SimulationResult result = run(topology, SelectionPolicy.kvAware());

            assertThat(result.workers()).hasSize(8);
            assertThat(result.workers().stream()
                            .mapToLong(WorkerTimeline::totalInputTokens)
                            .sum())
                    .isEqualTo(result.traffic().tokens().input())
                    .isEqualTo(13_732_944);
            assertThat(result.workers().stream()
                            .mapToLong(WorkerTimeline::totalCachedTokens)
                            .sum())
                    .isEqualTo(result.traffic().tokens().cached());
        }
    }

    @Test
    void workers_loadOverTime_isLittlesLaw() {
        SimulationResult result = run(EIGHT, SelectionPolicy.kvAware());

        double requestSeconds = result.latency().endToEnd().mean() / 1e3 * 1_000;
        double area = 0;
        for (WorkerTimeline worker : result.workers()) {
            for (int i = 0; i + 1 < worker.load().length; i++) {
                area += worker.load()[i] * result.stepSeconds();
            }
        }
        // The last step is shorter than the others and left out.
        assertThat(area).isBetween(0.97 * requestSeconds, requestSeconds);
    }

    @Test
    void disaggregated_everyTokenIsTransferredOrHeld() {
        SimulationResult always = run(DECODE_FIRST, SelectionPolicy.kvAware());
        SimulationResult conditional = run(DECODE_FIRST.with(DisaggPolicy.islBounding()), SelectionPolicy.kvAware());

        assertThat(always.traffic().tokens().transferred()).isBetween(10_000_000L, 13_732_944L);
        assertThat(always.traffic().localPrefills()).isZero();
        assertThat(conditional.traffic().localPrefills()).isPositive();
        assertThat(conditional.traffic().tokens().transferred())
                .isLessThan(always.traffic().tokens().transferred());
        assertThat(run(EIGHT, SelectionPolicy.kvAware()).traffic().tokens().transferred())
                .isZero();
    }

    @Test
    void promptsLargerThanTheCache_areRefusedTypedAndLeaveNothing() {
        for (Topology topology : List.of(EIGHT, PREFILL_FIRST, DECODE_FIRST)) {
            SimulationResult result =
                    run(topology, SelectionPolicy.kvAware(), EngineSetup.DEFAULT.withCacheBlocks(20), 1);

            assertThat(result.traffic().refused()).containsOnlyKeys(SelectionException.Kind.EXCEEDS_CAPACITY);
            assertThat(result.traffic().served()
                            + result.traffic().refused().get(SelectionException.Kind.EXCEEDS_CAPACITY))
                    .isEqualTo(1_000);
            assertThat(result.openBookings()).isZero();
        }
    }

    @Test
    void eventsDelayed_loseLittle_andLostOnes_loseTheView() {
        EngineSetup setup = EngineSetup.DEFAULT;
        double exact = run(EIGHT, SelectionPolicy.lmetric()).hitRatio();
        double late = run(
                        EIGHT,
                        SelectionPolicy.lmetric(),
                        setup.withDelivery(EventDelivery.after(Duration.ofMillis(50))),
                        1)
                .hitRatio();
        double blind = run(EIGHT, SelectionPolicy.lmetric(), setup.withDelivery(EventDelivery.LOST), 1)
                .hitRatio();

        assertThat(late).isGreaterThan(0.95 * exact);
        assertThat(blind).isLessThan(0.6 * exact);
    }

    @Test
    void traceInOtherBlocks_isRefused() {
        Workload finer = Workload.of(workload.trace().first(10).rechunked(4));

        assertThatThrownBy(() -> new Simulation(EIGHT, EngineSetup.DEFAULT, CorePool.with(core -> core), 1).run(finer))
                .hasMessageContaining("engines.model.blockTokens: 512 (expected: 128");
    }

    @Test
    void finerBlocks_sameTrace_findMore() {
        Workload finer = Workload.of(workload.trace().rechunked(8));
        EngineSetup setup =
                new EngineSetup(EngineSetup.DEFAULT.model().withBlockTokens(64), 16_384 * 8, EventDelivery.IMMEDIATE);

        SimulationResult result = new Simulation(
                        EIGHT, setup, CorePool.with(core -> core.policy(SelectionPolicy.lmetric())), 1)
                .run(finer);

        assertThat(result.openBookings()).isZero();
        assertThat(result.hitRatio())
                .isCloseTo(
                        run(EIGHT, SelectionPolicy.lmetric()).hitRatio(), org.assertj.core.api.Assertions.within(0.03));
    }
}

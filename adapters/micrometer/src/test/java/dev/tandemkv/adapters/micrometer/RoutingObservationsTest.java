package dev.tandemkv.adapters.micrometer;

import static dev.tandemkv.adapters.micrometer.MetricsFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.RoutingPlan;
import dev.tandemkv.coordinator.host.Dispatcher;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class RoutingObservationsTest {

    /** An observation that ended. */
    private record Ended(
            String name, String parent, Map<String, String> low, Map<String, String> high, boolean failed) {}

    private final List<Ended> ended = new ArrayList<>();
    private final ObservationRegistry registry = ObservationRegistry.create();
    private final RoutingObservations observations = RoutingObservations.in(registry);

    RoutingObservationsTest() {
        registry.observationConfig().observationHandler(new ObservationHandler<Observation.Context>() {
            @Override
            public void onStop(Observation.Context context) {
                var parent = context.getParentObservation();
                ended.add(new Ended(
                        context.getName(),
                        parent == null ? "" : parent.getContextView().getName(),
                        map(context.getLowCardinalityKeyValues()),
                        map(context.getHighCardinalityKeyValues()),
                        context.getError() != null));
            }

            @Override
            public boolean supportsContext(Observation.Context context) {
                return true;
            }
        });
    }

    private static Map<String, String> map(Iterable<KeyValue> values) {
        List<KeyValue> all = new ArrayList<>();
        values.forEach(all::add);
        return all.stream().collect(Collectors.toMap(KeyValue::getKey, KeyValue::getValue));
    }

    @Test
    void selectAndRelease_areObservedWithTheirOutcome() {
        MetricsFixture f = new MetricsFixture().workers(1);
        SelectionPool pool = observations.pool(f.core);

        Booking booking =
                pool.selectAndReserve(request(1, 64)).toCompletableFuture().join();
        pool.free(booking);
        pool.select(request(2, 64));

        assertThat(ended)
                .containsExactly(
                        new Ended("tandemkv.select", "", low("reserve", "exact_index"), worker(), false),
                        new Ended("tandemkv.release", "", Map.of("outcome", "success"), Map.of(), false),
                        new Ended("tandemkv.select", "", low("select", "load_only"), worker(), false));
    }

    private static Map<String, String> low(String call, String rung) {
        return Map.of("outcome", "success", "call", call, "rung", rung);
    }

    private static Map<String, String> worker() {
        return Map.of("model", "default", "routing_group", "default", "worker_id", "1", "dp_rank", "0");
    }

    @Test
    void failedSelection_hasItsKindAndEveryKey() {
        SelectionPool pool = observations.pool(new MetricsFixture().core);

        pool.selectAndReserve(request(1, 64));

        assertThat(ended)
                .containsExactly(new Ended(
                        "tandemkv.select",
                        "",
                        Map.of("outcome", "not_ready", "call", "reserve", "rung", "none"),
                        Map.of(),
                        true));
    }

    @Test
    void plan_itsSelectionsAreItsChildren() {
        MetricsFixture f = new MetricsFixture().workers(1);
        SelectionPool pool = observations.pool(f.core);
        DisaggCoordinator coordinator =
                DisaggCoordinator.builder(pool, pool, f.time).ticker(f.time).build();
        DisaggRequest request =
                DisaggRequest.builder("r", request(1, 64).prompt()).build();

        RoutingPlan plan = observations
                .plan(() -> coordinator.plan(request, CancellationSignal.never()))
                .toCompletableFuture()
                .join();
        observations.release(() -> coordinator.release(plan));

        assertThat(ended).extracting(Ended::name).contains("tandemkv.plan", "tandemkv.select", "tandemkv.release");
        assertThat(ended)
                .filteredOn(e -> e.name().equals("tandemkv.select"))
                .isNotEmpty()
                .allMatch(e -> e.parent().equals("tandemkv.plan"));
        assertThat(ended).noneMatch(e -> e.low().containsValue("r") || e.high().containsValue("r"));
    }

    @Test
    void dispatch_endsWhenTheWorkerHasAnswered() {
        CompletableFuture<Flow.Publisher<String>> answer = new CompletableFuture<>();
        Dispatcher<String, String> dispatcher = observations.dispatcher((payload, target) -> answer);
        Dispatcher.Target target = new Dispatcher.Target(WorkerRank.of(3), null, Dispatcher.Mode.DIRECT);

        CompletionStage<Flow.Publisher<String>> stage = dispatcher.dispatch("secret prompt", target);

        assertThat(stage)
                .as("the dispatcher's own stage, so that cancelling reaches it")
                .isSameAs(answer);
        assertThat(ended).isEmpty();
        answer.completeExceptionally(new IllegalStateException("refused"));
        assertThat(ended)
                .containsExactly(new Ended(
                        "tandemkv.dispatch",
                        "",
                        Map.of("outcome", "error"),
                        Map.of("worker_id", "3", "dp_rank", "0"),
                        true));
    }

    @Test
    void callThatThrows_endsItsObservation() {
        assertThatThrownBy(() -> observations.plan(() -> {
                    throw new IllegalArgumentException("request");
                }))
                .hasMessage("request");

        assertThat(ended).hasSize(1);
        assertThat(registry.getCurrentObservation()).isNull();
    }

    @Test
    void asMetrics_successAndFailureShareTheirKeys() {
        MetricsFixture f = new MetricsFixture();
        registry.observationConfig().observationHandler(new DefaultMeterObservationHandler(f.registry));
        SelectionPool pool = observations.pool(f.core);
        CompletionStage<Selection> early = pool.select(request(1, 64));
        f.workers(1);

        pool.select(request(1, 64));

        assertThat(early.toCompletableFuture()).isCompletedExceptionally();
        assertThat(Scrape.of(f.registry).value("tandemkv_select_seconds_count", "outcome", "success"))
                .isEqualTo(1);
        assertThat(Scrape.of(f.registry).value("tandemkv_select_seconds_count", "outcome", "not_ready"))
                .isEqualTo(1);
    }

    @Test
    void withoutAHandler_callsPassThrough() {
        MetricsFixture f = new MetricsFixture().workers(1);
        SelectionPool pool = RoutingObservations.in(ObservationRegistry.NOOP).pool(f.core);

        assertThat(pool.select(request(1, 64)).toCompletableFuture().join().worker())
                .isEqualTo(WorkerRank.of(1));
        assertThat(pool.workerRecord(f.core.list().get(0).spec().partition(), 1)
                        .toCompletableFuture()
                        .join())
                .isPresent();
    }
}

package dev.tandemkv.adapters.micrometer;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.coordinator.RoutingPlan;
import dev.tandemkv.coordinator.host.Dispatcher;
import dev.tandemkv.selection.SelectionPool;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * Observations of what a request goes through: {@code tandemkv.select}, {@code tandemkv.plan}, {@code tandemkv.dispatch} and {@code
 * tandemkv.release}. With a tracer in the registry each is a span. Thread-safe.
 *
 * <p>An observation begins with the call, is current on the calling thread until the call returns, so that what it calls becomes its
 * child, and ends with the stage. The stages that callers get are those of the pool, the coordinator and the dispatcher: cancelling them
 * still withdraws the request.
 *
 * <p>Key values of low cardinality, which become tags of metrics: {@code outcome} (success, or the kind of the failure) and, of a
 * selection, {@code call} (select or reserve) and {@code rung}. Of high cardinality, for spans alone: model, routing group, worker and rank.
 * None names a session, a request or a token.
 *
 * <pre>{@code
 * RoutingObservations observations = RoutingObservations.in(registry);
 * SelectionPool pool = observations.pool(core);
 * observations.plan(() -> coordinator.plan(request, signal));
 * }</pre>
 */
public final class RoutingObservations {

    static final String SELECT = "tandemkv.select";
    static final String PLAN = "tandemkv.plan";
    static final String DISPATCH = "tandemkv.dispatch";
    static final String RELEASE = "tandemkv.release";

    private static final String OUTCOME = "outcome";

    private final ObservationRegistry registry;

    private RoutingObservations(ObservationRegistry registry) {
        this.registry = Objects.requireNonNull(registry, "registry");
    }

    public static RoutingObservations in(ObservationRegistry registry) {
        return new RoutingObservations(registry);
    }

    /** The pool with its selections and releases observed. */
    public SelectionPool pool(SelectionPool pool) {
        return new ObservedPool(Objects.requireNonNull(pool, "pool"), this);
    }

    /** The dispatcher with its dispatches observed, until the worker accepts. */
    public <Q, R> Dispatcher<Q, R> dispatcher(Dispatcher<Q, R> dispatcher) {
        Objects.requireNonNull(dispatcher, "dispatcher");
        return (payload, target) -> observed(
                DISPATCH,
                observation -> observation
                        .highCardinalityKeyValue(
                                "worker_id",
                                Long.toUnsignedString(target.worker().workerId()))
                        .highCardinalityKeyValue(
                                "dp_rank",
                                Integer.toUnsignedString(target.worker().rank())),
                (observation, accepted) -> {},
                () -> dispatcher.dispatch(payload, target));
    }

    /** A call to a coordinator that plans, observed; its calls to observed pools are its children. */
    public CompletionStage<RoutingPlan> plan(Supplier<? extends CompletionStage<RoutingPlan>> call) {
        return observed(PLAN, observation -> {}, (observation, plan) -> {}, call);
    }

    /** A call to a coordinator that releases, observed. */
    public <T> CompletionStage<T> release(Supplier<? extends CompletionStage<T>> call) {
        return observed(RELEASE, observation -> {}, (observation, outcome) -> {}, call);
    }

    /** Adds what is known from the start. */
    @FunctionalInterface
    interface Start {
        void describe(Observation observation);
    }

    /**
     * Makes a call under an observation.
     *
     * @param success adds what is known of an answer
     */
    <T> CompletionStage<T> observed(
            String name,
            Start start,
            BiConsumer<Observation, ? super T> success,
            Supplier<? extends CompletionStage<T>> call) {
        if (registry.isNoop()) {
            return call.get();
        }
        Observation observation =
                Observation.createNotStarted(name, registry).lowCardinalityKeyValue(OUTCOME, "success");
        start.describe(observation);
        observation.start();
        CompletionStage<T> stage;
        Observation.Scope scope = observation.openScope();
        try {
            stage = call.get();
        } catch (RuntimeException | Error e) {
            scope.close();
            fail(observation, e);
            throw e;
        }
        scope.close();
        stage.whenComplete((value, failure) -> {
            if (failure == null) {
                success.accept(observation, value);
                observation.stop();
            } else {
                fail(observation, failure);
            }
        });
        return stage;
    }

    private static void fail(Observation observation, Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        String outcome = cause instanceof SelectionException known ? PartitionMeters.word(known.kind()) : "error";
        observation.lowCardinalityKeyValue(OUTCOME, outcome).error(cause);
        observation.stop();
    }
}

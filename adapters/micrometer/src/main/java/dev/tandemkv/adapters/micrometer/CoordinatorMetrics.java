package dev.tandemkv.adapters.micrometer;

import static dev.tandemkv.adapters.micrometer.PartitionMeters.word;

import dev.tandemkv.coordinator.BypassDecision;
import dev.tandemkv.coordinator.BypassSignals;
import dev.tandemkv.coordinator.CoordinatorObserver;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.LinkedBookingState;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.coordinator.PlanEvent;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The metrics of one {@link DisaggCoordinator}. Thread-safe. Used as {@link SelectionMetrics} is. */
public final class CoordinatorMetrics implements AutoCloseable {

    private final Binding binding;
    private final Events events;

    private CoordinatorMetrics(Binding binding) {
        this.binding = binding;
        events = new Events(binding.meters());
    }

    /** Metrics in a registry, with {@link MetricsSettings#DEFAULTS}. */
    public static CoordinatorMetrics in(MeterRegistry registry) {
        return in(registry, MetricsSettings.DEFAULTS);
    }

    public static CoordinatorMetrics in(MeterRegistry registry, MetricsSettings settings) {
        return new CoordinatorMetrics(new Binding(registry, settings));
    }

    /** To be given to the builder of the coordinator. */
    public CoordinatorObserver observer() {
        return events;
    }

    /**
     * Starts to read a coordinator: the one that {@link #observer} was given to.
     *
     * @throws IllegalStateException if one is bound already
     */
    public void bindTo(DisaggCoordinator coordinator) {
        Objects.requireNonNull(coordinator, "coordinator");
        binding.bind(into -> {
            into.add(Metric.OPEN_PLANS, coordinator.openPlans().size());
            for (PendingFree.Progress progress : PendingFree.Progress.values()) {
                into.add(Metric.PLAN_PENDING_FREES, 0, word(progress));
            }
            coordinator.pendingFrees().forEach(free -> into.add(Metric.PLAN_PENDING_FREES, 1, word(free.progress())));
        });
    }

    /** Reads the coordinator now. */
    public void refresh() {
        binding.refresh();
    }

    /** Takes every meter out of the registry again. */
    @Override
    public void close() {
        binding.close();
    }

    /** Counts what a coordinator tells. */
    private static final class Events implements CoordinatorObserver {

        private final Meters meters;
        private final Map<LinkedBookingState, Counter> transitions = new EnumMap<>(LinkedBookingState.class);
        private final Counter compensations;
        private final Counter forgotten;

        Events(Meters meters) {
            this.meters = meters;
            for (LinkedBookingState state : LinkedBookingState.values()) {
                if (state != LinkedBookingState.IDLE) {
                    transitions.put(state, meters.counter(Metric.PLAN_TRANSITIONS, word(state)));
                }
            }
            for (Leg leg : Leg.values()) {
                meters.counter(Metric.PLAN_FREE_RETRIES, word(leg));
                meters.counter(Metric.PLAN_LEAKS, word(leg));
            }
            for (BypassDecision.Outcome outcome : BypassDecision.Outcome.values()) {
                for (BypassSignals.Residency residency : BypassSignals.Residency.values()) {
                    meters.counter(Metric.BYPASS_DECISIONS, word(outcome), word(residency));
                }
            }
            compensations = meters.counter(Metric.PLAN_COMPENSATIONS);
            forgotten = meters.counter(Metric.PLANS_FORGOTTEN);
        }

        @Override
        public void onTransition(String planId, LinkedBookingState from, LinkedBookingState to) {
            Counter counter = transitions.get(to);
            if (counter != null) {
                counter.increment();
            }
        }

        @Override
        public void onCall(String planId, PlanEvent event, long nanos) {
            meters.timer(Metric.PLAN_CALLS, word(event.leg()), word(event.call()), word(event.outcome()))
                    .record(nanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public void onBypassDecision(String planId, BypassDecision decision) {
            BypassSignals signals = decision.signals();
            meters.counter(
                            Metric.BYPASS_DECISIONS,
                            word(decision.outcome()),
                            signals == null ? "not_asked" : word(signals.residency()))
                    .increment();
        }

        @Override
        public void onCompensation(String planId, @Nullable Throwable cause) {
            compensations.increment();
        }

        @Override
        public void onFreeRetry(PendingFree free) {
            meters.counter(Metric.PLAN_FREE_RETRIES, word(free.leg())).increment();
        }

        @Override
        public void onLeak(PendingFree free) {
            meters.counter(Metric.PLAN_LEAKS, word(free.leg())).increment();
        }

        @Override
        public void onPlanForgotten(String planId, long ageNanos) {
            forgotten.increment();
        }
    }
}

package dev.tandemkv.coordinator.internal;

import dev.tandemkv.coordinator.LinkedBookingState;
import dev.tandemkv.coordinator.PlanEvent;
import java.util.ArrayList;
import java.util.List;

/** Where a plan stands and how it got there. Not thread-safe: guarded by the lock of its plan. */
final class History {

    private static final int MOST_EVENTS = 256;

    private final List<LinkedBookingState> transitions = new ArrayList<>(6);
    private final List<PlanEvent> events = new ArrayList<>(6);

    History() {
        transitions.add(LinkedBookingState.IDLE);
    }

    LinkedBookingState state() {
        return transitions.get(transitions.size() - 1);
    }

    /** @throws IllegalStateException if the table of edges does not have this one: a defect of the coordinator */
    void move(LinkedBookingState to) {
        if (!state().canBecome(to)) {
            throw new IllegalStateException("no edge from " + state() + " to " + to);
        }
        transitions.add(to);
    }

    void record(PlanEvent event) {
        if (events.size() < MOST_EVENTS) {
            events.add(event);
        }
    }

    List<LinkedBookingState> transitions() {
        return List.copyOf(transitions);
    }

    List<PlanEvent> events() {
        return List.copyOf(events);
    }
}

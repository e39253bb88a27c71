package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.SelectionException;
import java.util.List;
import java.util.Objects;

/** The plan's state does not allow the call; nothing changed. Kind {@code CONFLICT}. */
public final class InvalidPlanStateException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final String operation;
    private final String expected;
    private final LinkedBookingState state;
    private final List<String> transitions;

    public InvalidPlanStateException(
            String operation, String expected, LinkedBookingState state, List<LinkedBookingState> transitions) {
        super(Kind.CONFLICT, operation + ": plan is " + state + " (expected: " + expected + ")");
        this.operation = Objects.requireNonNull(operation, "operation");
        this.expected = Objects.requireNonNull(expected, "expected");
        this.state = Objects.requireNonNull(state, "state");
        this.transitions = transitions.stream().map(Enum::name).toList();
    }

    public String operation() {
        return operation;
    }

    public String expected() {
        return expected;
    }

    public LinkedBookingState state() {
        return state;
    }

    /** Names of the states passed. */
    public List<String> transitions() {
        return transitions;
    }
}

package dev.tandemkv.selection;

import dev.tandemkv.catalog.SelectionException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A component of the policy misbehaved; its request failed and nothing was booked. Kind {@link SelectionException.Kind#INTERNAL}. */
public final class PolicyFaultException extends SelectionException {

    private static final long serialVersionUID = 1L;

    /** What the component did. */
    public enum Fault {
        /** A scorer answered a cost that is not finite, or the sum is not. */
        NON_FINITE_COST,
        /** A picker answered a row that does not exist. */
        INVALID_PICKER_ROW,
        /** A component threw. */
        THREW
    }

    private final Fault fault;
    private final String component;
    private final int row;

    /**
     * @param fault what happened
     * @param component name of the filter, scorer or picker
     * @param row the row concerned, or -1
     * @param cause what the component threw, or {@code null}
     */
    public PolicyFaultException(Fault fault, String component, int row, @Nullable Throwable cause) {
        super(Kind.INTERNAL, "policy component " + component + ": " + fault + " at row " + row, cause);
        this.fault = Objects.requireNonNull(fault, "fault");
        this.component = Objects.requireNonNull(component, "component");
        this.row = row;
    }

    public Fault fault() {
        return fault;
    }

    public String component() {
        return component;
    }

    public int row() {
        return row;
    }
}

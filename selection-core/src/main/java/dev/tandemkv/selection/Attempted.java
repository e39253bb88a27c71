package dev.tandemkv.selection;

import dev.tandemkv.catalog.SelectionException;
import java.util.Objects;

/** The answer of a form that never waits. */
public sealed interface Attempted<T> permits Attempted.Done, Attempted.Refused, Attempted.WouldWait {

    /**
     * It was carried out.
     *
     * @param value the decision or the booking
     */
    record Done<T>(T value) implements Attempted<T> {
        public Done {
            Objects.requireNonNull(value, "value");
        }
    }

    /**
     * It was refused, and would be now in the waiting form too.
     *
     * @param cause the error of that form
     */
    record Refused<T>(SelectionException cause) implements Attempted<T> {
        public Refused {
            Objects.requireNonNull(cause, "cause");
        }
    }

    /** It would have had to wait; nothing is left of it, and it counts neither as failed nor as rejected by a queue. */
    record WouldWait<T>() implements Attempted<T> {}
}

package dev.tandemkv.catalog;

import java.time.Duration;
import java.util.Objects;

/** The deadline passed while the operation waited. Kind {@link SelectionException.Kind#DEADLINE_EXCEEDED}. */
public final class DeadlineExceededException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final Duration waited;

    /**
     * @param what the operation that waited
     * @param waited how long it waited
     */
    public DeadlineExceededException(String what, Duration waited) {
        super(Kind.DEADLINE_EXCEEDED, what + ": deadline passed after " + waited);
        this.waited = Objects.requireNonNull(waited, "waited");
    }

    public Duration waited() {
        return waited;
    }
}

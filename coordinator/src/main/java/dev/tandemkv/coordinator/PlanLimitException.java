package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.SelectionException;

/** The coordinator has as many open plans as it may have; nothing was booked. Kind {@code OVERLOADED}. */
public final class PlanLimitException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final int limit;

    public PlanLimitException(int limit) {
        super(Kind.OVERLOADED, "open plans: " + limit + " (limit: " + limit + ")", null, StackTrace.OMITTED);
        this.limit = limit;
    }

    public int limit() {
        return limit;
    }
}

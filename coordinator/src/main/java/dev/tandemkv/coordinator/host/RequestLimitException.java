package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.SelectionException;

/** As many requests, or hand-overs, are open as may be; nothing was booked. Kind {@code OVERLOADED}. */
public final class RequestLimitException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final int limit;

    RequestLimitException(int limit) {
        super(Kind.OVERLOADED, "open: " + limit + " (limit: " + limit + ")", null, StackTrace.OMITTED);
        this.limit = limit;
    }

    public int limit() {
        return limit;
    }
}

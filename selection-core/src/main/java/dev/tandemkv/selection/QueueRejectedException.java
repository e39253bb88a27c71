package dev.tandemkv.selection;

import dev.tandemkv.catalog.SelectionException;
import java.util.Objects;

/** The request would have had to wait and could not. Kind {@link SelectionException.Kind#QUEUE_REJECTED}. */
public final class QueueRejectedException extends SelectionException {

    private static final long serialVersionUID = 1L;

    /** Which limit was hit. */
    public enum Limit {
        /** The class's limit of waiting requests. */
        REQUESTS("requests"),
        /** The class's limit of waiting prompt tokens. */
        RAW_ISL_TOKENS("raw_isl_tokens"),
        /** The class's limit of waiting cached tokens. */
        CACHED_TOKENS("cached_tokens"),
        /** The request itself refused to wait. */
        DO_NOT_QUEUE("do_not_queue");

        private final String wireName;

        Limit(String wireName) {
            this.wireName = wireName;
        }

        public String wireName() {
            return wireName;
        }
    }

    /**
     * What the class's queue held when it refused.
     *
     * @param requests waiting requests
     * @param islTokens their prompt tokens
     * @param cachedTokens their cached tokens, as fixed when they were queued
     */
    public record Pending(long requests, long islTokens, long cachedTokens) {}

    private final String policyClass;
    private final Limit limit;
    private final long current;
    private final long maximum;
    private final transient Pending pending;

    /**
     * @param policyClass class that refused
     * @param limit which limit
     * @param current usage before this request
     * @param maximum the limit; 0 where the request refused to wait
     * @param pending what the class's queue held
     */
    public QueueRejectedException(String policyClass, Limit limit, long current, long maximum, Pending pending) {
        super(
                Kind.QUEUE_REJECTED,
                "queue class " + policyClass + ": " + limit.wireName() + " " + current + " (limit: " + maximum + ")",
                null,
                StackTrace.OMITTED);
        this.policyClass = Objects.requireNonNull(policyClass, "policyClass");
        this.limit = limit;
        this.current = current;
        this.maximum = maximum;
        this.pending = pending;
    }

    public String policyClass() {
        return policyClass;
    }

    public Limit limit() {
        return limit;
    }

    /** Usage before this request was counted. */
    public long current() {
        return current;
    }

    public long maximum() {
        return maximum;
    }

    public Pending pending() {
        return pending;
    }
}

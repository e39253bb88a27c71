package dev.tandemkv.catalog;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The one error hierarchy of the library. {@link #kind()} is the closed choice to switch on; the final subclasses live in the module
 * that throws them and carry the facts as typed getters.
 *
 * <p>Programmer errors (null, a negative count) stay {@link NullPointerException} and {@link IllegalArgumentException}; bad content of a
 * request is {@link Kind#BAD_REQUEST}.
 */
public abstract class SelectionException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** What went wrong, with the HTTP status that a gateway may answer and whether trying again later can help. */
    public enum Kind {
        BAD_REQUEST(400, false),
        NOT_FOUND(404, false),
        CONFLICT(409, false),
        EXCEEDS_CAPACITY(413, false),
        OVERLOADED(429, true),
        QUEUE_REJECTED(429, true),
        DEADLINE_EXCEEDED(429, true),
        CANCELLED(499, false),
        INTERNAL(500, false),
        NOT_READY(503, true),
        NO_ELIGIBLE_WORKER(503, true),
        WORKER_GONE(503, true),
        INDEX_OFFLINE(503, true),
        SHUTDOWN(503, false),
        /** A pool or service could not be reached; the outcome may be unknown. */
        UNAVAILABLE(503, true);

        private final int httpStatus;
        private final boolean retryable;

        Kind(int httpStatus, boolean retryable) {
            this.httpStatus = httpStatus;
            this.retryable = retryable;
        }

        public int httpStatus() {
            return httpStatus;
        }

        public boolean retryable() {
            return retryable;
        }
    }

    private final Kind kind;

    protected SelectionException(Kind kind, String message) {
        this(kind, message, null);
    }

    protected SelectionException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = Objects.requireNonNull(kind, "kind");
    }

    /** For load shedding on hot paths: without a stack trace if {@code stackTrace} says so. */
    protected SelectionException(Kind kind, String message, @Nullable Throwable cause, StackTrace stackTrace) {
        super(message, cause, true, stackTrace == StackTrace.RECORDED);
        this.kind = Objects.requireNonNull(kind, "kind");
    }

    /** Whether an exception records where it was made. */
    protected enum StackTrace {
        RECORDED,
        OMITTED
    }

    public final Kind kind() {
        return kind;
    }

    /** The status a gateway may answer; a hint. */
    public final int httpStatus() {
        return kind.httpStatus();
    }

    /** Whether the same request can succeed later without being changed. */
    public final boolean retryable() {
        return kind.retryable();
    }
}

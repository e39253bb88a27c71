package dev.tandemkv.affinity;

import dev.tandemkv.catalog.SelectionException;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The request and its session disagree about the worker, or the request no longer holds its session. The session's binding is as it was.
 * Kind {@link dev.tandemkv.catalog.SelectionException.Kind#BAD_REQUEST}.
 */
public final class SessionRefusedException extends SelectionException {

    private static final long serialVersionUID = 1L;

    /** What the session was refused for. */
    public enum Reason {
        /** The request names a worker that the session is not bound to. */
        BOUND_ELSEWHERE("a target that agrees with the session's binding"),
        /** The request was dispatched to a worker other than the one it asked for. */
        DISPATCHED_ELSEWHERE("a dispatch to the target that the request named"),
        /** The session is no longer in the table. */
        CANCELLED("a session that is still held (cancelled)"),
        /** Another request took the session over. */
        CHANGED("a session that is still held (changed)");

        private final String expectation;

        Reason(String expectation) {
            this.expectation = expectation;
        }
    }

    private final Reason reason;
    private final transient @Nullable AffinityTarget bound;
    private final transient @Nullable AffinityTarget requested;

    SessionRefusedException(
            String sessionId, Reason reason, @Nullable AffinityTarget bound, @Nullable AffinityTarget requested) {
        super(
                Kind.BAD_REQUEST,
                "session " + SessionKeys.digest(sessionId) + ": " + requested + ", bound to " + bound + " (expected: "
                        + reason.expectation + ")");
        this.reason = Objects.requireNonNull(reason, "reason");
        this.bound = bound;
        this.requested = requested;
    }

    public Reason reason() {
        return reason;
    }

    /** What the session is bound to, or what the request asked for where it is bound to nothing. */
    public Optional<AffinityTarget> bound() {
        return Optional.ofNullable(bound);
    }

    /** What the request named, or where it was dispatched. */
    public Optional<AffinityTarget> requested() {
        return Optional.ofNullable(requested);
    }
}

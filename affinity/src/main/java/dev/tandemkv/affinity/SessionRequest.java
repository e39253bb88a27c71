package dev.tandemkv.affinity;

import dev.tandemkv.catalog.time.CancellationSignal;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One request's wish to hold its session.
 *
 * @param sessionId the session
 * @param isLive whether a target can be dispatched to at all, overloaded or not; asked outside every lock
 * @param explicitTarget the target that the request itself names, or {@code null}
 * @param mayStay whether the session may stay where it is, for a host that limits how far a sticky worker may be ahead in load; asked
 *     like {@code isLive}. Default: always. Where it says no, the selection is free and the session moves with it
 * @param cancel ends a wait; a session that is free at once is held all the same. Default: never
 * @param deadline tick at which a wait ends, or {@code null} for none
 */
public record SessionRequest(
        String sessionId,
        Predicate<AffinityTarget> isLive,
        @Nullable AffinityTarget explicitTarget,
        Predicate<AffinityTarget> mayStay,
        CancellationSignal cancel,
        @Nullable Long deadline) {

    public SessionRequest {
        Objects.requireNonNull(sessionId, "sessionId");
        Objects.requireNonNull(isLive, "isLive");
        Objects.requireNonNull(mayStay, "mayStay");
        Objects.requireNonNull(cancel, "cancel");
    }

    public static SessionRequest of(String sessionId, Predicate<AffinityTarget> isLive) {
        return builder(sessionId, isLive).build();
    }

    public static Builder builder(String sessionId, Predicate<AffinityTarget> isLive) {
        return new Builder(sessionId, isLive);
    }

    /** Without the session id. */
    @Override
    public String toString() {
        return "SessionRequest[session " + SessionKeys.digest(sessionId) + ", explicit " + explicitTarget
                + ", deadline " + deadline + ']';
    }

    /** Collects the components of a {@link SessionRequest}; not thread-safe. */
    public static final class Builder {
        private final String sessionId;
        private final Predicate<AffinityTarget> isLive;
        private @Nullable AffinityTarget explicitTarget;
        private Predicate<AffinityTarget> mayStay = target -> true;
        private CancellationSignal cancel = CancellationSignal.never();
        private @Nullable Long deadline;

        private Builder(String sessionId, Predicate<AffinityTarget> isLive) {
            this.sessionId = sessionId;
            this.isLive = isLive;
        }

        public Builder explicitTarget(@Nullable AffinityTarget explicitTarget) {
            this.explicitTarget = explicitTarget;
            return this;
        }

        /** Default: always. */
        public Builder mayStay(Predicate<AffinityTarget> mayStay) {
            this.mayStay = mayStay;
            return this;
        }

        /** Default: never. */
        public Builder cancel(CancellationSignal cancel) {
            this.cancel = cancel;
            return this;
        }

        /** A tick of the table's ticker. Default: none. */
        public Builder deadline(@Nullable Long deadline) {
            this.deadline = deadline;
            return this;
        }

        public SessionRequest build() {
            return new SessionRequest(sessionId, isLive, explicitTarget, mayStay, cancel, deadline);
        }
    }
}

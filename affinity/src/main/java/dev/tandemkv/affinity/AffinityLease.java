package dev.tandemkv.affinity;

import dev.tandemkv.affinity.internal.Acquired.Use;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * One use of a session's binding, from dispatch to the end of the response. The binding cannot idle out while a lease is open; closing
 * one starts its idle TTL again. Thread-safe; ends once, by {@link #close} or {@link #invalidate}, and is inert afterwards. Does not keep
 * its table alive.
 *
 * <p>Closing publishes to the replicas: close outside locks.
 */
public final class AffinityLease implements AutoCloseable {

    private final WeakReference<SessionAffinity> table;
    private final Claim claim;
    private final RebindMoment rebindMoment;
    /** Where the session moves at {@code rebindMoment}; {@code null} if it stays. Guarded by {@code claim}. */
    private @Nullable AffinityTarget moveTo;

    AffinityLease(
            SessionAffinity table,
            String sessionId,
            Use use,
            RebindMoment rebindMoment,
            @Nullable AffinityTarget moveTo) {
        this.table = table.self();
        this.rebindMoment = rebindMoment;
        this.moveTo = moveTo;
        this.claim = table.claims().open(this, sessionId, use.revision(), use);
    }

    /** The dispatch is committed: moves the session if that was waited for. */
    void dispatched() {
        if (rebindMoment == RebindMoment.ON_DISPATCH) {
            move();
        }
    }

    /** Says that the worker has produced something. Moves the session if that was waited for. Idempotent. */
    public void firstToken() {
        if (rebindMoment != RebindMoment.ON_SUCCESS) {
            move();
        }
    }

    /** Says that the response ended well. Moves the session if that was waited for. Does not close the lease. Idempotent. */
    public void succeeded() {
        move();
    }

    private void move() {
        SessionAffinity live = table.get();
        AffinityTarget to;
        synchronized (claim) {
            to = moveTo;
            moveTo = null;
        }
        if (live != null && to != null) {
            live.claims().rebind(claim, to);
        }
    }

    /** Says that a booking owns this lease: it then ends with the booking and never by age. */
    public AffinityLease followBooking() {
        claim.owned = true;
        return this;
    }

    /** Ends the lease and, unless it has moved on, the binding: its worker is gone. */
    public void invalidate() {
        SessionAffinity live = table.get();
        if (live != null) {
            live.claims().invalidate(claim);
        }
    }

    @Override
    public void close() {
        SessionAffinity live = table.get();
        if (live != null) {
            live.claims().end(claim);
        }
    }
}

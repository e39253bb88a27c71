package dev.tandemkv.affinity;

import dev.tandemkv.affinity.internal.Acquired.Use;
import dev.tandemkv.affinity.internal.BindingTable.DispatchRule;
import java.lang.ref.WeakReference;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A session held by one request from before it is queued until it is dispatched. Thread-safe; ends once, by {@link #commit},
 * {@link #spill}, {@link #invalidate} or {@link #close}, and is inert afterwards. Does not keep its table alive.
 */
public final class AffinityHold implements AutoCloseable {

    /** How the held session constrains the selection. */
    public enum Steering {
        /** The target is a requirement while it is eligible. */
        REQUIRED,
        /** The target is a preference. */
        PREFERRED,
        /** Nothing is known or the session may move: select freely. */
        FREE
    }

    private final WeakReference<SessionAffinity> table;
    private final Claim claim;
    private final @Nullable AffinityTarget target;
    /** The rules of this request; written before the hold is handed out. */
    private @Nullable AffinityTarget explicitTarget;

    private Steering steering;
    private DispatchRule rule;
    private RebindMoment rebindMoment;

    AffinityHold(
            SessionAffinity table,
            String sessionId,
            long revision,
            @Nullable Use use,
            @Nullable AffinityTarget explicit) {
        this.table = table.self();
        this.target = use == null ? null : use.target();
        this.explicitTarget = explicit;
        this.rebindMoment = table.config().rebindMoment();
        this.rule = table.config().mode() == AffinityMode.HARD ? DispatchRule.EXCLUSIVE : DispatchRule.FREE;
        this.steering =
                use == null ? Steering.FREE : rule == DispatchRule.EXCLUSIVE ? Steering.REQUIRED : Steering.PREFERRED;
        this.claim = table.claims().open(this, sessionId, revision, use);
    }

    /** Whether this request makes the session's first dispatch. */
    public boolean isInitial() {
        return target == null;
    }

    /** What the session is bound to; empty on its first dispatch. */
    public Optional<AffinityTarget> target() {
        return Optional.ofNullable(target);
    }

    /** What the request itself asked for. */
    public Optional<AffinityTarget> explicitTarget() {
        return Optional.ofNullable(explicitTarget);
    }

    public Steering steering() {
        return steering;
    }

    /**
     * Confirms where the request was dispatched, and turns the hold into a lease. Never waits.
     *
     * @throws SessionRefusedException if the dispatch disagrees with the binding or the request's own target, or the session was lost;
     *     the hold has ended and the binding is as it was
     * @throws AffinityDroppedException if the table was closed
     * @throws IllegalStateException if the hold has ended
     */
    public AffinityLease commit(AffinityTarget dispatched) {
        return tableOrDropped().commit(this, dispatched);
    }

    /** Ends the hold of a request that went elsewhere because the bound worker was overloaded: the binding stays. */
    public void spill() {
        close();
    }

    /** Ends the hold and, unless it has moved on, the binding: its worker is gone. */
    public void invalidate() {
        SessionAffinity live = table.get();
        if (live != null) {
            live.claims().invalidate(claim);
        }
    }

    /** Ends the hold uncommitted: the next waiter's turn, or the idle TTL of the binding begins again. */
    @Override
    public void close() {
        SessionAffinity live = table.get();
        if (live != null) {
            live.claims().end(claim);
        }
    }

    private SessionAffinity tableOrDropped() {
        SessionAffinity live = table.get();
        if (live == null || live.isClosed()) {
            throw new AffinityDroppedException();
        }
        return live;
    }

    // ---- for the resolver ----

    Claim claim() {
        return claim;
    }

    DispatchRule rule() {
        return rule;
    }

    RebindMoment rebindMoment() {
        return rebindMoment;
    }

    void explicitTarget(@Nullable AffinityTarget explicit) {
        explicitTarget = explicit;
    }

    /** Lets the session move although its target is live. */
    void setFree(RebindMoment moment) {
        steering = Steering.FREE;
        rule = DispatchRule.FREE;
        rebindMoment = moment;
    }

    /** Ends the hold of a request that never used it: the idle TTL is as it was. */
    void closeUnused() {
        SessionAffinity live = table.get();
        if (live != null) {
            live.claims().endUnused(claim);
        }
    }
}

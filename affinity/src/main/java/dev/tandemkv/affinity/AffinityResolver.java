package dev.tandemkv.affinity;

import dev.tandemkv.affinity.SessionAffinity.Commit;
import dev.tandemkv.affinity.internal.Committed;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * How one request drives a session table: hold the session before queueing, commit it under the booking, fail over if its worker left in
 * between. Adds to the table what needs to know whether a target is live. Stateless and thread-safe.
 */
public final class AffinityResolver {

    /** A booking must not wait for a request that may be queued behind it, so fail-over gives up instead of waiting. */
    private static final int FAILOVER_ATTEMPTS = 2;

    private final SessionAffinity table;

    public AffinityResolver(SessionAffinity table) {
        this.table = table;
    }

    /**
     * Holds a session. A binding to a target that is not live is ended and made anew. Completes at once, on the calling thread, unless
     * another request makes the session's first dispatch.
     *
     * @return the hold, or empty where the request routes without its session because a limit of the table was met. Fails with
     *     {@link dev.tandemkv.catalog.BadRequestException} for a bad session id, {@link SessionRefusedException} where the request's own
     *     target disagrees with a live binding, {@link dev.tandemkv.catalog.CancelledException} and
     *     {@link dev.tandemkv.catalog.DeadlineExceededException} where a wait ended early, and
     *     {@link dev.tandemkv.catalog.ShutdownException} where the table is closed
     */
    public CompletionStage<Optional<AffinityHold>> resolve(SessionRequest request) {
        return new Resolution(table, request).start();
    }

    /**
     * Holds the session of a request that is pinned to a worker.
     *
     * @return the hold, or empty where the session is left alone. Fails as {@link #resolve} does
     */
    public CompletionStage<Optional<AffinityHold>> resolvePinned(
            SessionRequest request, AffinityTarget pin, PinPolicy policy) {
        return switch (policy) {
            case IGNORE_SESSION -> CompletableFuture.completedStage(Optional.empty());
            case BIND ->
                resolve(request).thenApply(held -> {
                    held.ifPresent(hold -> {
                        hold.explicitTarget(pin);
                        hold.setFree(RebindMoment.ON_DISPATCH);
                    });
                    return held;
                });
            case VALIDATE -> {
                try {
                    yield CompletableFuture.completedStage(validated(request, pin));
                } catch (RuntimeException e) {
                    yield CompletableFuture.failedStage(e);
                }
            }
        };
    }

    /** A pin uses a live binding that it agrees with; it creates none and ends none. */
    private Optional<AffinityHold> validated(SessionRequest request, AffinityTarget pin) {
        Optional<AffinityTarget> bound = table.query(request.sessionId(), null);
        if (bound.isEmpty() || !request.isLive().test(bound.get())) {
            return Optional.empty();
        }
        if (!(table.acquireNow(request.sessionId(), null) instanceof Acquisition.Held held)) {
            return Optional.empty();
        }
        AffinityHold hold = held.hold();
        Optional<AffinityTarget> target = hold.target();
        if (target.isEmpty() || !target.equals(bound)) {
            // The binding changed between the look and the hold: to this request it is as if there had been none.
            hold.closeUnused();
            return Optional.empty();
        }
        if (!target.get().admitsRequest(pin)) {
            if (table.config().mode() == AffinityMode.HARD) {
                hold.closeUnused();
                throw table.boundElsewhere(request.sessionId(), target.get(), pin);
            }
            hold.setFree(table.config().rebindMoment());
        }
        return Optional.of(hold);
    }

    /**
     * Commits a hold, and finds the session a place where its worker left meanwhile or another request took it over. Never waits.
     *
     * @return the lease, or empty where the request runs on without its session
     * @throws SessionRefusedException if the dispatch disagrees with a live binding, which stays, or with the request's own target; the
     *     hold has ended
     * @throws AffinityDroppedException if the table was closed; the hold has ended
     * @throws IllegalStateException if the hold has ended before
     */
    public Optional<AffinityLease> commitOrFailover(
            AffinityHold hold, AffinityTarget dispatched, Predicate<AffinityTarget> isLive) {
        if (table.isClosed()) {
            hold.close();
            throw new AffinityDroppedException();
        }
        AffinityLease lease = commitOrMove(hold, dispatched, isLive);
        for (int attempt = 0; lease == null && attempt < FAILOVER_ATTEMPTS; attempt++) {
            Acquisition again = table.acquireNow(hold.claim().sessionId, null);
            if (again instanceof Acquisition.Unpinned) {
                return Optional.empty();
            }
            if (again instanceof Acquisition.Held held) {
                held.hold().explicitTarget(hold.explicitTarget().orElse(null));
                lease = commitOrMove(held.hold(), dispatched, isLive);
            } else {
                lease = table.joinInitializing(hold.claim().sessionId, dispatched)
                        .orElse(null);
            }
        }
        if (lease == null) {
            table.unpinned(UnpinnedCause.LOST_FAILOVER);
        }
        return Optional.ofNullable(lease);
    }

    /** {@code null} where the session was lost through no fault of the request; the hold has ended then. */
    private @Nullable AffinityLease commitOrMove(
            AffinityHold hold, AffinityTarget dispatched, Predicate<AffinityTarget> isLive) {
        Commit commit = table.tryCommit(hold, dispatched);
        if (commit.lease() == null
                && commit.outcome() instanceof Committed.Mismatch mismatch
                && !isLive.test(mismatch.bound())) {
            if (!hold.isInitial() && table.claims().rebind(hold.claim(), dispatched)) {
                commit = table.tryCommit(hold, dispatched);
            }
            if (commit.lease() == null) {
                hold.closeUnused();
                return null;
            }
        }
        if (commit.lease() != null) {
            return commit.lease();
        }
        hold.closeUnused();
        if (commit.outcome() instanceof Committed.Simple) {
            return null;
        }
        throw table.refusal(hold, dispatched, commit.outcome());
    }

    /**
     * Whether a later commit of this dispatch would be refused; for hosts that commit after they dispatch. Changes nothing.
     *
     * @throws SessionRefusedException if the session is bound to another, live target that is a requirement
     */
    public void checkDispatch(AffinityHold hold, AffinityTarget dispatched, Predicate<AffinityTarget> isLive) {
        AffinityTarget bound = hold.target().orElse(null);
        if (bound != null
                && hold.steering() == AffinityHold.Steering.REQUIRED
                && !bound.admitsDispatch(dispatched)
                && isLive.test(bound)) {
            throw table.boundElsewhere(hold.claim().sessionId, bound, dispatched);
        }
    }

    /**
     * Ends the hold of a request whose selection left no worker. Where the host's policy excluded the bound worker of a hard session,
     * the binding ends too, else it would fail every retry.
     */
    public void releaseFiltered(AffinityHold hold, FilteredBy filteredBy) {
        if (filteredBy == FilteredBy.POLICY && hold.steering() == AffinityHold.Steering.REQUIRED) {
            hold.invalidate();
        } else {
            hold.close();
        }
    }

    /**
     * The live target of a session, without taking it.
     *
     * @throws dev.tandemkv.catalog.BadRequestException if the session id is too long
     * @throws SessionRefusedException if the request's own target disagrees with a live binding
     */
    public Optional<AffinityTarget> query(
            String sessionId, @Nullable AffinityTarget explicit, Predicate<AffinityTarget> isLive) {
        Optional<AffinityTarget> bound = table.query(sessionId, null).filter(isLive);
        if (bound.isPresent() && !bound.get().admitsRequest(explicit)) {
            throw table.boundElsewhere(sessionId, bound.get(), explicit);
        }
        return bound;
    }
}

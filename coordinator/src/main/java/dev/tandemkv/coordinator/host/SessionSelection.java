package dev.tandemkv.coordinator.host;

import dev.tandemkv.affinity.AffinityHold;
import dev.tandemkv.affinity.AffinityResolver;
import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.affinity.FilteredBy;
import dev.tandemkv.affinity.PinPolicy;
import dev.tandemkv.affinity.SessionRequest;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.coordinator.internal.Failures;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.NoEligibleWorkerException;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SessionContext;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Selects with the session's affinity: holds the session, lets it steer the selection, books, and decides what a failure means for the
 * binding. Stateless.
 *
 * <p>A failure destroys a binding only where the binding is hard and its target is gone, or the policy would filter it every time. A
 * selection that fails because the target is gone is made once more.
 */
final class SessionSelection {

    private final HostParts<?, ?> parts;
    private final Releases releases;

    SessionSelection(HostParts<?, ?> parts, Releases releases) {
        this.parts = parts;
        this.releases = releases;
    }

    /** A booking, with the session that steered it. */
    record Chosen(Booking booking, @Nullable AffinityHold hold) {}

    /** The same request on every try: what is asked, who must not be chosen, and what ends it. */
    private record Ask(SelectRequest request, Phase phase, Set<Long> excluded, CancellationSignal stop) {

        /** The outcome of the first reserve may be unknown, and then its id is still being freed: the second one needs another. */
        Ask again() {
            SelectRequest next = request.toBuilder()
                    .selectionId(request.selectionId() + "/again")
                    .build();
            return new Ask(next, phase, excluded, stop);
        }
    }

    CompletableFuture<Chosen> choose(SelectRequest request, Phase phase, Set<Long> excluded, CancellationSignal stop) {
        return attempt(new Ask(request, phase, excluded, stop), 1);
    }

    private CompletableFuture<Chosen> attempt(Ask ask, int retriesLeft) {
        return hold(ask).thenCompose(held -> {
            AffinityHold hold = held.orElse(null);
            return reserve(ask, hold)
                    .handle((booking, failure) -> failure == null
                            ? CompletableFuture.completedFuture(new Chosen(booking, hold))
                            : failed(ask, hold, Failures.unwrap(failure), retriesLeft))
                    .thenCompose(next -> next);
        });
    }

    private CompletableFuture<Booking> reserve(Ask ask, @Nullable AffinityHold hold) {
        try {
            return releases.reserve(steered(ask.request(), hold), ask.phase(), ask.stop());
        } catch (RuntimeException refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    private CompletableFuture<Optional<AffinityHold>> hold(Ask ask) {
        AffinityResolver affinity = parts.affinity();
        SessionContext session = ask.request().session();
        if (affinity == null || session == null) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        SessionRequest wish = SessionRequest.builder(session.sessionId(), isLive(ask.excluded()))
                .explicitTarget(ask.request().affinityTarget())
                .cancel(ask.stop())
                .deadline(ask.request().deadlineTick())
                .build();
        WorkerRank pin = ask.request().pinnedWorker();
        return (pin == null
                        ? affinity.resolve(wish)
                        : affinity.resolvePinned(wish, AffinityTarget.of(pin), PinPolicy.VALIDATE))
                .toCompletableFuture();
    }

    /** A worker that failed this request is no place for its session either. */
    Predicate<AffinityTarget> isLive(Set<Long> excluded) {
        return target -> !excluded.contains(target.workerId()) && parts.health().isLive(target);
    }

    private static SelectRequest steered(SelectRequest request, @Nullable AffinityHold hold) {
        AffinityTarget target = hold == null ? null : hold.target().orElse(null);
        if (hold == null || target == null || request.pinnedWorker() != null) {
            return request;
        }
        return switch (hold.steering()) {
            case REQUIRED -> required(request, target);
            case PREFERRED -> request.toBuilder().affinityTarget(target).build();
            case FREE -> request;
        };
    }

    /** A target that the request itself excludes does not steer: the commit is refused later, and the binding stays. */
    static SelectRequest required(SelectRequest request, AffinityTarget target) {
        Set<Long> allowed = request.allowedWorkerIds();
        boolean ruledOut = request.excludedWorkerIds().contains(target.workerId())
                || (allowed != null && !allowed.contains(target.workerId()));
        if (ruledOut) {
            return request;
        }
        Integer rank = target.dpRank();
        return rank == null
                ? request.toBuilder()
                        .allowedWorkerIds(Set.of(target.workerId()))
                        .build()
                : request.toBuilder()
                        .pinnedByRouter(new WorkerRank(target.workerId(), rank))
                        .build();
    }

    private CompletableFuture<Chosen> failed(Ask ask, @Nullable AffinityHold hold, Throwable failure, int retriesLeft) {
        if (hold == null) {
            return CompletableFuture.failedFuture(failure);
        }
        boolean mayFailOver = Failures.kind(failure) != Kind.CANCELLED
                && ask.request().affinityTarget() == null
                && isGone(hold, ask.excluded());
        if (mayFailOver && retriesLeft > 0) {
            hold.invalidate();
            return attempt(ask.again(), retriesLeft - 1);
        }
        AffinityResolver affinity = parts.affinity();
        if (affinity != null && failure instanceof NoEligibleWorkerException none && none.filtered()) {
            affinity.releaseFiltered(hold, FilteredBy.POLICY);
        } else {
            hold.close();
        }
        return CompletableFuture.failedFuture(failure);
    }

    /** Ends the hold of an attempt that failed after it was booked; the binding ends with it only if it is worth nothing. */
    void release(AffinityHold hold, Set<Long> excluded) {
        if (isGone(hold, excluded)) {
            hold.invalidate();
        } else {
            hold.close();
        }
    }

    /** Whether a hard session's target is gone, so that its binding is worth nothing. What cannot be told is kept. */
    private boolean isGone(AffinityHold hold, Set<Long> excluded) {
        AffinityTarget target = hold.target().orElse(null);
        if (hold.steering() != AffinityHold.Steering.REQUIRED || target == null) {
            return false;
        }
        try {
            return !isLive(excluded).test(target);
        } catch (RuntimeException broken) {
            parts.observer().onWarning("worker health", broken);
            return false;
        }
    }
}

package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.coordinator.DecodeFailurePolicy;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.PlanFailedException;
import dev.tandemkv.coordinator.TransferConstraint;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.PoolUnavailableException;
import dev.tandemkv.selection.SelectRequest;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Books prefill by cache, then decode by load inside the prefill worker's transfer domain. Stateless. */
final class PrefillAnchored {

    private final Settings settings;
    private final Anchoring anchoring;

    PrefillAnchored(Settings settings, Anchoring anchoring) {
        this.settings = settings;
        this.anchoring = anchoring;
    }

    /** Both legs at once; a failure keeps nothing. */
    CompletableFuture<Void> plan(PlanRun run, DisaggRequest request) {
        return planPrefill(run, request)
                .thenCompose(done -> decode(
                        run, request, settings.secondLegBound(request), Set.of(), DecodeFailurePolicy.FREE_PREFILL));
    }

    CompletableFuture<Void> planPrefill(PlanRun run, DisaggRequest request) {
        SelectRequest booking = LegRequests.prefill(request, null)
                .selectionId(run.reserving().selectionId(Leg.PREFILL))
                .build();
        return run.reserving()
                .reserve(Leg.PREFILL, booking, new Bound(request.deadlineTick()))
                .handle((booked, failure) -> failure == null
                        ? anchored(run, request, booked)
                        : run.<Void>fail(PlanFailedException.Step.PREFILL_COMMIT, failure))
                .thenCompose(next -> next);
    }

    private CompletableFuture<Void> anchored(PlanRun run, DisaggRequest request, Booking prefill) {
        return run.commit(Leg.PREFILL)
                .thenCompose(committed ->
                        anchoring.constrain(run, request, Leg.PREFILL, prefill, settings.secondLegBound(request)));
    }

    /** The second call of a plan whose prefill is booked. */
    CompletableFuture<Void> planDecode(PlanRun run, DisaggRequest request, Set<Long> failedWorkers) {
        Bound bound = settings.secondLegBound(request);
        if (run.reserving().isClear(Leg.DECODE)) {
            return decode(run, request, bound, failedWorkers, settings.decodeFailure());
        }
        // An earlier call left a reserve of unknown outcome: one live booking per leg, so that one comes to its end
        // first.
        return run.reserving()
                .unknownTried(Leg.DECODE)
                .thenCompose(tried -> run.reserving().isClear(Leg.DECODE)
                        ? decode(run, request, bound, failedWorkers, settings.decodeFailure())
                        : run.keepForRetry(
                                new PoolUnavailableException("planDecode", "an earlier reserve is not settled", null)));
    }

    private CompletableFuture<Void> decode(
            PlanRun run, DisaggRequest request, Bound bound, Set<Long> failedWorkers, DecodeFailurePolicy policy) {
        CompletableFuture<Booking> contradiction = anchoring.contradiction(run, request, Leg.DECODE);
        if (contradiction != null) {
            return contradiction.thenApply(never -> null);
        }
        int retries = policy == DecodeFailurePolicy.KEEP_FOR_RETRY ? settings.decodeRetries() : 0;
        return tryDecode(new DecodeTry(run, request, bound, failedWorkers, policy, retries));
    }

    /** One try to book decode, and how many may follow. */
    private record DecodeTry(
            PlanRun run,
            DisaggRequest request,
            Bound bound,
            Set<Long> failedWorkers,
            DecodeFailurePolicy policy,
            int retriesLeft) {

        DecodeTry next(@Nullable WorkerRank failed) {
            Set<Long> all = new HashSet<>(failedWorkers);
            if (failed != null) {
                all.add(failed.workerId());
            }
            return new DecodeTry(run, request, bound, all, policy, retriesLeft - 1);
        }

        SelectRequest.Builder decode(LegRequests.DecodeRole role, @Nullable TransferConstraint constraint) {
            Set<Long> excluded = new HashSet<>(request.decode().excludedWorkerIds());
            excluded.addAll(failedWorkers);
            return LegRequests.decode(request, role, constraint).excludedWorkerIds(excluded);
        }
    }

    private CompletableFuture<Void> tryDecode(DecodeTry now) {
        PlanRun run = now.run();
        SelectRequest booking = now.decode(role(), run.notes().constraint)
                .selectionId(run.reserving().selectionId(Leg.DECODE))
                .build();
        return run.reserving()
                .reserve(Leg.DECODE, booking, now.bound())
                .handle((booked, failure) -> failure == null ? booked(now, booked) : failed(now, failure))
                .thenCompose(next -> next);
    }

    private LegRequests.DecodeRole role() {
        return settings.policy().enabled() ? LegRequests.DecodeRole.BY_CACHE : LegRequests.DecodeRole.BY_LOAD;
    }

    private CompletableFuture<Void> booked(DecodeTry now, Booking decode) {
        return anchoring
                .checkSecond(now.run(), now.request(), Leg.DECODE, decode, now.bound())
                .thenCompose(checked -> now.run().commit(Leg.DECODE));
    }

    private CompletableFuture<Void> failed(DecodeTry now, Throwable failure) {
        PlanRun run = now.run();
        Throwable cause = Failures.unwrap(failure);
        if (now.policy() == DecodeFailurePolicy.FREE_PREFILL || run.isEnding()) {
            SelectRequest unconstrained =
                    now.decode(role(), null).mode(SelectRequest.Mode.ADVISORY).build();
            return anchoring
                    .secondLegFailed(run, unconstrained, Leg.DECODE, now.bound(), cause)
                    .thenApply(never -> null);
        }
        // What is unknown is tried to be freed before anything else of this leg is booked: one live booking per leg.
        return run.reserving().unknownTried(Leg.DECODE).thenCompose(tried -> {
            boolean again = now.retriesLeft() > 0
                    && Failures.retryable(cause)
                    && run.reserving().isClear(Leg.DECODE);
            return again ? tryDecode(now.next(Failures.failedWorker(cause))) : run.keepForRetry(cause);
        });
    }
}

package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.JointDecision;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.PlanEvent;
import dev.tandemkv.coordinator.PlanFailedException;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.TransferConstraint;
import dev.tandemkv.coordinator.TransferMetadataException;
import dev.tandemkv.coordinator.UnsatisfiableTransferDomainException;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.SelectRequest;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Scores both pools, takes the cheapest compatible pair and books it, prefill first; so a joint plan passes the states of a
 * prefill-anchored one. Where a chosen rank is lost before it is booked the pools are scored again: both before anything is booked, decode
 * alone afterwards, against the prefill worker that is booked. A pool that cannot score makes the plan prefill-anchored.
 *
 * <p>Stateless but for the random source, which is used under its lock.
 */
final class Joint {

    private final Settings settings;
    private final Anchoring anchoring;
    private final PrefillAnchored fallback;
    private final Object randomLock = new Object();

    Joint(Settings settings, Anchoring anchoring, PrefillAnchored fallback) {
        this.settings = settings;
        this.anchoring = anchoring;
        this.fallback = fallback;
    }

    CompletableFuture<Void> plan(PlanRun run, DisaggRequest request) {
        return choose(run, request, settings.rePreviews());
    }

    /** The scores of both pools; a pool that cannot score is empty. */
    private record Scores(Optional<List<RankScore>> prefill, Optional<List<RankScore>> decode) {}

    private CompletableFuture<Void> choose(PlanRun run, DisaggRequest request, int rescoresLeft) {
        Bound bound = settings.queryBound(request);
        return score(run, Leg.PREFILL, prefillQuery(request), bound)
                .thenCombine(score(run, Leg.DECODE, decodeQuery(request, null), bound), Scores::new)
                .handle((scores, failure) -> failure == null
                        ? scored(run, request, scores, rescoresLeft)
                        : run.<Void>fail(PlanFailedException.Step.SCORE, failure))
                .thenCompose(next -> next);
    }

    private static SelectRequest prefillQuery(DisaggRequest request) {
        return LegRequests.prefill(request, null)
                .mode(SelectRequest.Mode.ADVISORY)
                .build();
    }

    private SelectRequest decodeQuery(DisaggRequest request, @Nullable TransferConstraint constraint) {
        return LegRequests.decode(request, role(), constraint)
                .mode(SelectRequest.Mode.ADVISORY)
                .build();
    }

    private LegRequests.DecodeRole role() {
        return settings.policy().enabled() ? LegRequests.DecodeRole.BY_CACHE : LegRequests.DecodeRole.BY_LOAD;
    }

    private CompletableFuture<Optional<List<RankScore>>> score(PlanRun run, Leg leg, SelectRequest query, Bound bound) {
        return run.step(
                PlanEvent.Call.SCORE, leg, bound, () -> settings.pool(leg).score(query));
    }

    private CompletableFuture<Void> scored(PlanRun run, DisaggRequest request, Scores scores, int rescoresLeft) {
        if (scores.prefill().isEmpty()) {
            return prefillAnchored(run, request, JointDecision.Outcome.PREFILL_POOL_CANNOT_SCORE);
        }
        if (scores.decode().isEmpty()) {
            return prefillAnchored(run, request, JointDecision.Outcome.DECODE_POOL_CANNOT_SCORE);
        }
        List<RankScore> prefills = scores.prefill().get();
        List<RankScore> decodes = scores.decode().get();
        JointDecision pair = best(request, prefills, decodes);
        return pair == null ? noPair(run, prefills, decodes) : bookPrefill(run, request, pair, rescoresLeft);
    }

    private CompletableFuture<Void> prefillAnchored(PlanRun run, DisaggRequest request, JointDecision.Outcome reason) {
        run.notes().order = PlanOrder.PREFILL_ANCHORED;
        run.notes().jointDecision = JointDecision.fallback(reason);
        return fallback.plan(run, request);
    }

    private @Nullable JointDecision best(DisaggRequest request, List<RankScore> prefills, List<RankScore> decodes) {
        // The host's transfer cost is asked outside the lock; only the draws between equal pairs are taken under it.
        RandomGenerator shared = () -> {
            synchronized (randomLock) {
                return settings.random().nextLong();
            }
        };
        return new PairChoice(request, settings.transferCost()).best(prefills, decodes, shared);
    }

    private static CompletableFuture<Void> noPair(PlanRun run, List<RankScore> prefills, List<RankScore> decodes) {
        if (prefills.isEmpty() || decodes.isEmpty()) {
            return run.fail(
                    null,
                    h -> new PlanFailedException(PlanFailedException.Step.SCORE, Kind.NO_ELIGIBLE_WORKER, null, h));
        }
        RankScore anchor = prefills.get(0);
        TransferDomains.Resolved resolved = TransferDomains.of(anchor.record());
        TransferMetadataException.Missing missing = resolved.missing();
        if (missing != null) {
            return run.fail(
                    null,
                    h -> new TransferMetadataException(
                            missing, anchor.worker(), anchor.record().spec().kvTransferDomain(), h));
        }
        String taint = Objects.requireNonNullElse(
                resolved.constraint() == null ? null : resolved.constraint().taint(), "of every decode worker");
        return run.fail(null, h -> new UnsatisfiableTransferDomainException(anchor.worker(), taint, null, h));
    }

    private CompletableFuture<Void> bookPrefill(
            PlanRun run, DisaggRequest request, JointDecision pair, int rescoresLeft) {
        run.notes().jointDecision = pair;
        WorkerRank rank = Objects.requireNonNull(pair.prefill());
        SelectRequest booking = LegRequests.pinned(LegRequests.prefill(request, null), request.prefill(), rank)
                .selectionId(run.reserving().selectionId(Leg.PREFILL))
                .build();
        return run.reserving()
                .reserve(Leg.PREFILL, booking, new Bound(request.deadlineTick()))
                .handle((booked, failure) -> {
                    if (failure == null) {
                        return prefillBooked(run, request, booked, pair, rescoresLeft);
                    }
                    Throwable cause = Failures.unwrap(failure);
                    return Failures.pinLost(cause) && rescoresLeft > 0
                            ? choose(run, request, rescoresLeft - 1)
                            : run.<Void>fail(PlanFailedException.Step.PREFILL_COMMIT, cause);
                })
                .thenCompose(next -> next);
    }

    private CompletableFuture<Void> prefillBooked(
            PlanRun run, DisaggRequest request, Booking prefill, JointDecision pair, int rescoresLeft) {
        Bound bound = settings.secondLegBound(request);
        return run.commit(Leg.PREFILL)
                .thenCompose(committed -> anchoring.constrain(run, request, Leg.PREFILL, prefill, bound))
                .thenCompose(constrained -> bookDecode(run, request, pair, bound, rescoresLeft));
    }

    private CompletableFuture<Void> bookDecode(
            PlanRun run, DisaggRequest request, JointDecision pair, Bound bound, int rescoresLeft) {
        run.notes().jointDecision = pair;
        WorkerRank rank = Objects.requireNonNull(pair.decode());
        SelectRequest booking = LegRequests.pinned(
                        LegRequests.decode(request, role(), run.notes().constraint), request.decode(), rank)
                .selectionId(run.reserving().selectionId(Leg.DECODE))
                .build();
        return run.reserving()
                .reserve(Leg.DECODE, booking, bound)
                .handle((booked, failure) -> {
                    if (failure == null) {
                        return anchoring
                                .checkSecond(run, request, Leg.DECODE, booked, bound)
                                .thenCompose(checked -> run.commit(Leg.DECODE));
                    }
                    Throwable cause = Failures.unwrap(failure);
                    return Failures.pinLost(cause) && rescoresLeft > 0
                            ? rescoreDecode(run, request, pair, bound, rescoresLeft - 1, cause)
                            : decodeFailed(run, request, bound, cause);
                })
                .thenCompose(next -> next);
    }

    private CompletableFuture<Void> rescoreDecode(
            PlanRun run,
            DisaggRequest request,
            JointDecision lost,
            Bound bound,
            int rescoresLeft,
            Throwable decodeFailure) {
        WorkerRank rank = Objects.requireNonNull(lost.prefill());
        RankScore booked = new RankScore(rank, lost.prefillCost(), Objects.requireNonNull(run.notes().anchorRecord));
        return score(run, Leg.DECODE, decodeQuery(request, null), bound)
                .handle((scores, failure) -> {
                    JointDecision pair =
                            failure == null && scores.isPresent() ? best(request, List.of(booked), scores.get()) : null;
                    return pair == null
                            ? decodeFailed(run, request, bound, decodeFailure)
                            : bookDecode(run, request, pair, bound, rescoresLeft);
                })
                .thenCompose(next -> next);
    }

    private CompletableFuture<Void> decodeFailed(PlanRun run, DisaggRequest request, Bound bound, Throwable failure) {
        return anchoring
                .secondLegFailed(run, decodeQuery(request, null), Leg.DECODE, bound, failure)
                .thenApply(never -> null);
    }
}

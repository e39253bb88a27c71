package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.PairCheck;
import dev.tandemkv.coordinator.PlanEvent;
import dev.tandemkv.coordinator.PlanFailedException;
import dev.tandemkv.coordinator.TransferConstraint;
import dev.tandemkv.coordinator.TransferMetadataException;
import dev.tandemkv.coordinator.TransferMetadataException.Missing;
import dev.tandemkv.coordinator.UnsatisfiableTransferDomainException;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.SelectRequest;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What the first booking means for the second: the transfer constraint, read once and kept, and the errors that say that no second worker
 * fits it. Stateless.
 */
final class Anchoring {

    private final Settings settings;

    Anchoring(Settings settings) {
        this.settings = settings;
    }

    /** Reads the anchor's record and keeps its constraint in the plan; whatever is missing fails the plan. */
    CompletableFuture<Void> constrain(PlanRun run, DisaggRequest request, Leg leg, Booking anchor, Bound bound) {
        WorkerRank worker = anchor.id().worker();
        return record(run, request, leg, worker, bound)
                .handle((found, failure) -> failure == null
                        ? keep(run, worker, found.orElse(null))
                        : run.<Void>fail(PlanFailedException.Step.ANCHOR_RECORD, failure))
                .thenCompose(next -> next);
    }

    private CompletableFuture<Optional<WorkerRecord>> record(
            PlanRun run, DisaggRequest request, Leg leg, WorkerRank worker, Bound bound) {
        return run.step(
                PlanEvent.Call.WORKER_RECORD,
                leg,
                bound,
                () -> settings.pool(leg).workerRecord(request.partition(leg), worker.workerId()));
    }

    private static CompletableFuture<Void> keep(PlanRun run, WorkerRank anchor, @Nullable WorkerRecord record) {
        if (record == null) {
            return run.fail(null, h -> new TransferMetadataException(Missing.RECORD, anchor, null, h));
        }
        TransferDomains.Resolved resolved = TransferDomains.of(record);
        Missing missing = resolved.missing();
        if (missing != null) {
            String domain = record.spec().kvTransferDomain();
            return run.fail(null, h -> new TransferMetadataException(missing, anchor, domain, h));
        }
        run.notes().anchorRecord = record;
        run.notes().constraint = resolved.constraint();
        return CompletableFuture.completedFuture(null);
    }

    /** What a previewed worker's domain would be; unknown counts as none, because a preview books nothing. */
    CompletableFuture<Optional<TransferConstraint>> preview(
            PlanRun run, DisaggRequest request, Leg leg, WorkerRank worker, Bound bound) {
        return record(run, request, leg, worker, bound)
                .handle((found, failure) -> failure == null
                        ? found.map(TransferDomains::of).flatMap(resolved -> Optional.ofNullable(resolved.constraint()))
                        : Optional.empty());
    }

    /** The error if the leg's own required taints demand another value of the anchor's domain, so that no pool need be asked. */
    @Nullable
    CompletableFuture<Booking> contradiction(PlanRun run, DisaggRequest request, Leg second) {
        TransferConstraint constraint = run.notes().constraint;
        if (constraint == null || !constraint.contradicts(request.leg(second).constraints())) {
            return null;
        }
        WorkerRank anchor = anchor(run, second);
        return run.fail(null, h -> new UnsatisfiableTransferDomainException(anchor, constraint.taint(), null, h));
    }

    /**
     * Ends the plan because the second leg could not be booked, naming the domain if it is the reason: the same request would find a worker
     * without the domain.
     */
    CompletableFuture<Booking> secondLegFailed(
            PlanRun run, SelectRequest unconstrained, Leg second, Bound bound, Throwable failure) {
        Throwable cause = Failures.unwrap(failure);
        PlanFailedException.Step step = commitStep(second);
        TransferConstraint constraint = run.notes().constraint;
        if (constraint == null || !constraint.isRequired() || Failures.kind(cause) != Kind.NO_ELIGIBLE_WORKER) {
            return run.fail(step, cause);
        }
        WorkerRank anchor = anchor(run, second);
        return run.step(
                        PlanEvent.Call.PROBE,
                        second,
                        bound,
                        () -> settings.pool(second).select(unconstrained))
                .handle((found, notFound) -> notFound == null
                        ? run.<Booking>fail(
                                cause,
                                h -> new UnsatisfiableTransferDomainException(anchor, constraint.taint(), cause, h))
                        : run.<Booking>fail(step, cause))
                .thenCompose(next -> next);
    }

    /** Where both workers' domains count: the second worker's own required domain must contain the anchor. */
    CompletableFuture<Void> checkSecond(PlanRun run, DisaggRequest request, Leg second, Booking booked, Bound bound) {
        if (settings.pairCheck() == PairCheck.ANCHOR_ONLY) {
            return CompletableFuture.completedFuture(null);
        }
        WorkerRank worker = booked.id().worker();
        return record(run, request, second, worker, bound)
                .handle((own, failure) -> failure == null
                        ? verdict(run, worker, own.orElse(null))
                        : run.<Void>fail(PlanFailedException.Step.ANCHOR_RECORD, failure))
                .thenCompose(next -> next);
    }

    private static CompletableFuture<Void> verdict(PlanRun run, WorkerRank worker, @Nullable WorkerRecord own) {
        if (own == null) {
            return run.fail(null, h -> new TransferMetadataException(Missing.RECORD, worker, null, h));
        }
        WorkerRecord anchor = Objects.requireNonNull(run.notes().anchorRecord);
        TransferConstraint constraint = TransferDomains.of(own).constraint();
        return constraint == null || TransferDomains.accepts(own, anchor)
                ? CompletableFuture.completedFuture(null)
                : run.fail(null, h -> new UnsatisfiableTransferDomainException(worker, constraint.taint(), null, h));
    }

    static PlanFailedException.Step commitStep(Leg leg) {
        return leg == Leg.PREFILL ? PlanFailedException.Step.PREFILL_COMMIT : PlanFailedException.Step.DECODE_COMMIT;
    }

    /** The worker that is booked already; it may be released by now, its identity stays. */
    private static WorkerRank anchor(PlanRun run, Leg second) {
        return Objects.requireNonNull(run.selection(second.other())).worker();
    }
}

package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.LinkedBookingState;
import dev.tandemkv.coordinator.PlanEvent;
import dev.tandemkv.coordinator.PlanFailedException;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.ChargeOutcome;
import dev.tandemkv.selection.SelectRequest;
import java.util.concurrent.CompletableFuture;

/**
 * Lets the decode worker prefill by itself after no prefill worker could be booked: its booking, made without prefill load, is charged
 * for it before the state moves. In place where the pool can; else it is freed and booked again on the same rank. If that fails too,
 * nothing is held and the error carries both causes. Stateless.
 */
final class LocalPrefill {

    private final Settings settings;

    LocalPrefill(Settings settings) {
        this.settings = settings;
    }

    CompletableFuture<Void> takeOver(
            PlanRun run, DisaggRequest request, Booking decode, Bound bound, Throwable prefillFailure) {
        return run.step(
                        PlanEvent.Call.CHARGE_PREFILL,
                        Leg.DECODE,
                        bound,
                        () -> settings.decodePool().chargePrefill(decode))
                .handle((outcome, failure) -> outcome == ChargeOutcome.CHARGED
                        ? run.advance(LinkedBookingState.BYPASS_AFTER_PREFILL_FAILURE)
                        : bookAgain(run, request, decode.id().worker(), bound, prefillFailure))
                .thenCompose(next -> next);
    }

    private CompletableFuture<Void> bookAgain(
            PlanRun run, DisaggRequest request, WorkerRank rank, Bound bound, Throwable prefillFailure) {
        return run.reserving().freeHeld(Leg.DECODE).thenCompose(freed -> {
            Throwable notFreed = freed.failure();
            if (notFreed != null) {
                return failed(run, prefillFailure, notFreed);
            }
            run.reserving().retireSelectionId(Leg.DECODE);
            SelectRequest booking = LegRequests.pinned(
                            LegRequests.decode(request, LegRequests.DecodeRole.ALONE, null), request.decode(), rank)
                    .selectionId(run.reserving().selectionId(Leg.DECODE))
                    .build();
            return run.reserving()
                    .reserve(Leg.DECODE, booking, bound)
                    .handle((booked, failure) -> failure == null
                            ? run.advance(LinkedBookingState.BYPASS_AFTER_PREFILL_FAILURE)
                            : failed(run, prefillFailure, Failures.unwrap(failure)))
                    .thenCompose(next -> next);
        });
    }

    private static CompletableFuture<Void> failed(PlanRun run, Throwable prefillFailure, Throwable takeOverFailure) {
        return run.fail(prefillFailure, h -> {
            PlanFailedException error = new PlanFailedException(
                    PlanFailedException.Step.PREFILL_COMMIT, Failures.kind(prefillFailure), prefillFailure, h);
            error.addSuppressed(takeOverFailure);
            return error;
        });
    }
}

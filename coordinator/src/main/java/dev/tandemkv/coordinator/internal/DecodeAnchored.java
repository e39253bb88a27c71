package dev.tandemkv.coordinator.internal;

import dev.tandemkv.coordinator.BypassDecision;
import dev.tandemkv.coordinator.BypassSignals;
import dev.tandemkv.coordinator.DisaggPolicy;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.LinkedBookingState;
import dev.tandemkv.coordinator.PlanEvent;
import dev.tandemkv.coordinator.PlanFailedException;
import dev.tandemkv.coordinator.PrefillFailurePolicy;
import dev.tandemkv.coordinator.TransferConstraint;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Previews decode, decides whether it serves the request alone, books it, and then books prefill inside the decode worker's transfer
 * domain. Keeps nothing but a count.
 */
final class DecodeAnchored {

    private final Settings settings;
    private final Anchoring anchoring;
    private final LocalPrefill localPrefill;
    private final LongAdder withoutResidency = new LongAdder();

    DecodeAnchored(Settings settings, Anchoring anchoring) {
        this.settings = settings;
        this.anchoring = anchoring;
        localPrefill = new LocalPrefill(settings);
    }

    CompletableFuture<Void> plan(PlanRun run, DisaggRequest request) {
        return preview(run, request, settings.rePreviews());
    }

    private CompletableFuture<Void> preview(PlanRun run, DisaggRequest request, int previewsLeft) {
        SelectRequest query = LegRequests.decode(request, previewRole(), null)
                .mode(SelectRequest.Mode.ADVISORY)
                .build();
        return run.step(
                        PlanEvent.Call.PREVIEW,
                        Leg.DECODE,
                        settings.queryBound(request),
                        () -> settings.decodePool().select(query))
                .handle((seen, failure) -> failure == null
                        ? previewed(run, request, seen, previewsLeft)
                        : run.<Void>fail(PlanFailedException.Step.DECODE_PREVIEW, failure))
                .thenCompose(next -> next);
    }

    private LegRequests.DecodeRole previewRole() {
        return settings.policy().enabled() ? LegRequests.DecodeRole.BY_CACHE : LegRequests.DecodeRole.BY_LOAD;
    }

    private CompletableFuture<Void> previewed(PlanRun run, DisaggRequest request, Selection preview, int previewsLeft) {
        return run.advance(LinkedBookingState.DECODE_PREVIEWED)
                .thenCompose(moved -> decide(run, request, preview))
                .thenCompose(decision -> {
                    note(run, decision);
                    return book(run, request, preview, decision, previewsLeft);
                });
    }

    private void note(PlanRun run, BypassDecision decision) {
        run.notes().bypassDecision = decision;
        BypassSignals signals = decision.signals();
        if (signals != null && signals.residency() == BypassSignals.Residency.NO_RESIDENCY_DATA) {
            withoutResidency.increment();
        }
        settings.observer().onBypassDecision(run.id(), decision);
    }

    /** Decisions so far for which the previewed worker was not known to hold anything. */
    long decisionsWithoutResidency() {
        return withoutResidency.sum();
    }

    private CompletableFuture<BypassDecision> decide(PlanRun run, DisaggRequest request, Selection preview) {
        if (!settings.policy().enabled()) {
            return CompletableFuture.completedFuture(BypassDecision.DISABLED);
        }
        return probe(run, request, preview).thenApply(probed -> {
            long promptTokens = request.prompt().islTokens();
            BypassSignals signals =
                    BypassRules.signals(promptTokens, preview, probed.orElse(null), settings.thresholds());
            return BypassRules.decide(
                    settings.policy(),
                    signals,
                    request.prefill(),
                    settings.thresholds().decode());
        });
    }

    /** Asks the prefill pool for exactly what would be booked. A failure leaves the signal unknown and the plan goes on. */
    private CompletableFuture<Optional<Selection>> probe(PlanRun run, DisaggRequest request, Selection preview) {
        boolean needed = settings.policy().prefillProbe() == DisaggPolicy.PrefillProbe.NEEDED
                && settings.thresholds().prefill() != null;
        if (!needed) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        Bound bound = settings.queryBound(request);
        return anchoring
                .preview(run, request, Leg.DECODE, preview.worker(), bound)
                .thenCompose(domain -> probeIn(run, request, domain.orElse(null), bound));
    }

    private CompletableFuture<Optional<Selection>> probeIn(
            PlanRun run, DisaggRequest request, @Nullable TransferConstraint domain, Bound bound) {
        SelectRequest query = LegRequests.prefill(request, domain)
                .mode(SelectRequest.Mode.ADVISORY)
                .build();
        return run.step(
                        PlanEvent.Call.PROBE,
                        Leg.PREFILL,
                        bound,
                        () -> settings.prefillPool().select(query))
                .handle((seen, failure) -> failure == null ? Optional.of(seen) : Optional.empty());
    }

    private CompletableFuture<Void> book(
            PlanRun run, DisaggRequest request, Selection preview, BypassDecision decision, int previewsLeft) {
        LegRequests.DecodeRole role =
                decision.isBypass() ? LegRequests.DecodeRole.ALONE : LegRequests.DecodeRole.BY_LOAD;
        SelectRequest booking = LegRequests.pinned(
                        LegRequests.decode(request, role, null), request.decode(), preview.worker())
                .selectionId(run.reserving().selectionId(Leg.DECODE))
                .build();
        return run.reserving()
                .reserve(Leg.DECODE, booking, new Bound(request.deadlineTick()))
                .handle((booked, failure) -> {
                    if (failure == null) {
                        return booked(run, request, booked, decision);
                    }
                    Throwable cause = Failures.unwrap(failure);
                    return Failures.pinLost(cause) && previewsLeft > 0
                            ? preview(run, request, previewsLeft - 1)
                            : run.<Void>fail(PlanFailedException.Step.DECODE_COMMIT, cause);
                })
                .thenCompose(next -> next);
    }

    private CompletableFuture<Void> booked(
            PlanRun run, DisaggRequest request, Booking decode, BypassDecision decision) {
        return run.commit(Leg.DECODE)
                .thenCompose(committed -> decision.isBypass()
                        ? run.advance(LinkedBookingState.BYPASS)
                        : prefill(run, request, decode, settings.secondLegBound(request)));
    }

    private CompletableFuture<Void> prefill(PlanRun run, DisaggRequest request, Booking decode, Bound bound) {
        return anchoring
                .constrain(run, request, Leg.DECODE, decode, bound)
                .thenCompose(constrained -> bookPrefill(run, request, decode, bound));
    }

    private CompletableFuture<Void> bookPrefill(PlanRun run, DisaggRequest request, Booking decode, Bound bound) {
        CompletableFuture<Booking> contradiction = anchoring.contradiction(run, request, Leg.PREFILL);
        if (contradiction != null) {
            return contradiction.thenApply(never -> null);
        }
        SelectRequest booking = LegRequests.prefill(request, run.notes().constraint)
                .selectionId(run.reserving().selectionId(Leg.PREFILL))
                .build();
        return run.reserving()
                .reserve(Leg.PREFILL, booking, bound)
                .handle((booked, failure) -> failure == null
                        ? linked(run, request, booked, bound)
                        : prefillFailed(run, request, decode, bound, Failures.unwrap(failure)))
                .thenCompose(next -> next);
    }

    private CompletableFuture<Void> linked(PlanRun run, DisaggRequest request, Booking prefill, Bound bound) {
        return anchoring
                .checkSecond(run, request, Leg.PREFILL, prefill, bound)
                .thenCompose(checked -> run.commit(Leg.PREFILL));
    }

    private CompletableFuture<Void> prefillFailed(
            PlanRun run, DisaggRequest request, Booking decode, Bound bound, Throwable failure) {
        boolean mayServeAlone = settings.prefillFailure() == PrefillFailurePolicy.BYPASS_ON_DECODE
                && Failures.capacityOrEligibility(failure);
        if (mayServeAlone) {
            return localPrefill.takeOver(run, request, decode, bound, failure);
        }
        SelectRequest unconstrained = LegRequests.prefill(request, null)
                .mode(SelectRequest.Mode.ADVISORY)
                .build();
        return anchoring
                .secondLegFailed(run, unconstrained, Leg.PREFILL, bound, failure)
                .thenApply(never -> null);
    }
}

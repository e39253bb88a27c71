package dev.tandemkv.coordinator.internal;

import dev.tandemkv.coordinator.BusyThresholds;
import dev.tandemkv.coordinator.BypassDecision;
import dev.tandemkv.coordinator.BypassDecision.Outcome;
import dev.tandemkv.coordinator.BypassSignals;
import dev.tandemkv.coordinator.BypassSignals.BusyFigure;
import dev.tandemkv.coordinator.BypassSignals.Residency;
import dev.tandemkv.coordinator.DisaggPolicy;
import dev.tandemkv.coordinator.LegRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.WorkerLoad;
import org.jspecify.annotations.Nullable;

/** The bypass decision: what a preview and a probe tell, and in which order the rules apply. */
final class BypassRules {

    private BypassRules() {}

    /** @param probe what the prefill pool would book, or {@code null} if it was not asked or did not answer */
    static BypassSignals signals(
            @Nullable Long promptTokens, Selection preview, @Nullable Selection probe, BusyThresholds thresholds) {
        Boolean decodeBusy = preview.decodeBusy();
        BusyFigure figure = decodeBusy == null ? BusyFigure.UNKNOWN : BusyFigure.POOL;
        if (decodeBusy == null) {
            decodeBusy = derivedDecodeBusy(preview, thresholds.decode());
            figure = decodeBusy == null ? BusyFigure.UNKNOWN : BusyFigure.DERIVED;
        }
        return new BypassSignals(
                promptTokens,
                preview.cachedTokens(),
                preview.cachedTokens() > 0 || preview.overlap().longestMatched() > 0
                        ? Residency.REPORTED
                        : Residency.NO_RESIDENCY_DATA,
                probe == null ? null : prefillBusy(probe, thresholds.prefill()),
                decodeBusy,
                figure);
    }

    private static @Nullable Boolean derivedDecodeBusy(Selection preview, @Nullable Double threshold) {
        WorkerLoad load = preview.workerLoad();
        Long capacity = load == null ? null : load.totalKvBlocks();
        if (threshold == null || capacity == null) {
            return null;
        }
        return preview.potentialDecodeBlocks() > threshold * capacity;
    }

    private static @Nullable Boolean prefillBusy(Selection probe, @Nullable Double threshold) {
        WorkerLoad load = probe.workerLoad();
        if (load == null) {
            return null;
        }
        if (load.prefillBusy() != null) {
            return load.prefillBusy();
        }
        return threshold == null ? null : load.activePrefillTokens() > threshold * load.prefillTokenCapacity();
    }

    /** The rules in their order: enabled, prefill pin, known length, policy, decode gate. */
    static BypassDecision decide(
            DisaggPolicy policy, BypassSignals signals, LegRequest prefill, @Nullable Double decodeGate) {
        return new BypassDecision(outcome(policy, signals, prefill, decodeGate), signals);
    }

    private static Outcome outcome(
            DisaggPolicy policy, BypassSignals signals, LegRequest prefill, @Nullable Double decodeGate) {
        if (!policy.enabled()) {
            return Outcome.POLICY_DISABLED;
        }
        if (prefill.pinnedWorker() != null) {
            return Outcome.PREFILL_PINNED;
        }
        if (signals.promptTokens() == null) {
            return Outcome.UNKNOWN_LENGTH;
        }
        if (policy.decide(signals) != DisaggPolicy.Verdict.BYPASS) {
            return Outcome.POLICY_REMOTE;
        }
        if (decodeGate == null || Boolean.FALSE.equals(signals.decodeBusy())) {
            return Outcome.BYPASS;
        }
        return signals.decodeBusy() == null ? Outcome.DECODE_LOAD_UNKNOWN : Outcome.DECODE_BUSY;
    }
}

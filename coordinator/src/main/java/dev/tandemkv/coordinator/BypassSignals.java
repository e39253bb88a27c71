package dev.tandemkv.coordinator;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the bypass decision knows.
 *
 * @param promptTokens prompt length, or {@code null} if unknown
 * @param cachedTokens what the previewed decode worker holds of it: {@code min(isl, weighted overlap x block size)}
 * @param residency whether the previewed worker showed anything cached at all
 * @param prefillBusy whether the prefill worker that would be booked is busy; {@code null} if unknown or not asked
 * @param decodeBusy whether the previewed decode worker is busy; {@code null} if unknown
 * @param decodeFigure where {@code decodeBusy} comes from
 */
public record BypassSignals(
        @Nullable Long promptTokens,
        double cachedTokens,
        Residency residency,
        @Nullable Boolean prefillBusy,
        @Nullable Boolean decodeBusy,
        BusyFigure decodeFigure) {

    /** Whether the preview knew of cached blocks. */
    public enum Residency {
        REPORTED,
        /** No block of the prompt is known on the worker: it is cold, or has no event feed. Counted by the coordinator. */
        NO_RESIDENCY_DATA
    }

    /** Where a busy signal comes from. */
    public enum BusyFigure {
        /** The pool said so itself. */
        POOL,
        /** Derived from potential blocks and capacity. */
        DERIVED,
        UNKNOWN
    }

    public BypassSignals {
        Objects.requireNonNull(residency, "residency");
        Objects.requireNonNull(decodeFigure, "decodeFigure");
    }

    /** Prompt tokens that the decode worker would have to prefill: {@code prompt - cached}, at least 0; 0 if the length is unknown. */
    public double netNewTokens() {
        return promptTokens == null ? 0 : Math.max(0, promptTokens - cachedTokens);
    }
}

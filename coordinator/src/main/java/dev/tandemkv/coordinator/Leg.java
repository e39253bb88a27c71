package dev.tandemkv.coordinator;

import java.util.Locale;

/** One of the two halves of a disaggregated request. */
public enum Leg {
    PREFILL,
    DECODE;

    /** The selection id of this leg's booking: {@code <plan id>/prefill} or {@code <plan id>/decode}. */
    public String selectionId(String planId) {
        return planId + '/' + name().toLowerCase(Locale.ROOT);
    }

    public Leg other() {
        return this == PREFILL ? DECODE : PREFILL;
    }
}

package dev.tandemkv.coordinator;

import org.jspecify.annotations.Nullable;

/**
 * When a worker counts as busy, for the bypass decision; strict {@code >}.
 *
 * @param prefill busy if active prefill tokens exceed this fraction of the rank's capacity; {@code null}: prefill load is not probed. A
 *     router with a queue threshold usually passes that.
 * @param decode busy if potential decode blocks exceed this fraction of the rank's blocks; {@code null}: there is no decode gate
 */
public record BusyThresholds(
        @Nullable Double prefill, @Nullable Double decode) {

    public static final BusyThresholds NONE = new BusyThresholds(null, null);

    /** @throws IllegalArgumentException if a threshold is negative or not finite */
    public BusyThresholds {
        require("prefill", prefill);
        require("decode", decode);
    }

    private static void require(String name, @Nullable Double value) {
        if (value != null && !(Double.isFinite(value) && value >= 0)) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: finite, >= 0)");
        }
    }

    public BusyThresholds withPrefill(double fraction) {
        return new BusyThresholds(fraction, decode);
    }

    public BusyThresholds withDecode(double fraction) {
        return new BusyThresholds(prefill, fraction);
    }
}

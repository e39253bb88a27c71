package dev.tandemkv.adapters.micrometer;

import java.util.Map;

/**
 * What an adapter of engine events has read and refused since its birth, for example the {@code ListenerStats} of {@code engine-wire}; this
 * adapter does not depend on that one. Immutable.
 *
 * @param batches batches read
 * @param events events handed on
 * @param refused messages that were no batch, by reason
 * @param dropped events that were not handed on, or in part, by reason
 */
public record WireCounts(
        long batches, long events, Map<? extends Enum<?>, Long> refused, Map<? extends Enum<?>, Long> dropped) {

    /** Why a message was no batch. */
    public enum Refusal {
        FOREIGN_TOPIC,
        FRAME_ANOMALY,
        UNDECODABLE,
        REFUSED_RANK
    }

    public WireCounts {
        refused = Map.copyOf(refused);
        dropped = Map.copyOf(dropped);
    }
}

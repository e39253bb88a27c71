package dev.tandemkv.adapters.enginewire.neutral;

import java.util.EnumMap;
import java.util.Map;

/**
 * What a normaliser has done since its birth. Immutable; counts of one snapshot may be torn against each other by a batch in progress.
 *
 * @param batches batches normalised
 * @param emitted events handed on
 * @param dropped events by the reason for which they, or a part of them, were not; reasons that never occurred are absent
 */
public record NormalizerStats(long batches, long emitted, Map<DropReason, Long> dropped) {

    public NormalizerStats {
        dropped = Map.copyOf(dropped);
    }

    /** How many events were dropped, in whole or in part, for one reason. */
    public long dropped(DropReason reason) {
        return dropped.getOrDefault(reason, 0L);
    }

    /** What happened since an earlier snapshot. */
    public NormalizerStats minus(NormalizerStats previous) {
        Map<DropReason, Long> difference = new EnumMap<>(DropReason.class);
        dropped.forEach((reason, count) -> {
            if (count != previous.dropped(reason)) {
                difference.put(reason, count - previous.dropped(reason));
            }
        });
        return new NormalizerStats(batches - previous.batches, emitted - previous.emitted, difference);
    }
}

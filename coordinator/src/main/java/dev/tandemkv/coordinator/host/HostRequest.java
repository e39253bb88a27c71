package dev.tandemkv.coordinator.host;

import dev.tandemkv.selection.SelectRequest;
import java.util.Objects;

/**
 * A request to route.
 *
 * @param payload what the dispatcher sends
 * @param selection what the pool is asked for; needs a selection id, which further attempts extend
 * @param phase what the worker does
 * @param <Q> type of the payload
 */
public record HostRequest<Q>(Q payload, SelectRequest selection, Phase phase) {

    public HostRequest {
        Objects.requireNonNull(payload, "payload");
        Objects.requireNonNull(selection, "selection");
        Objects.requireNonNull(phase, "phase");
        Objects.requireNonNull(selection.selectionId(), "selection.selectionId");
    }

    public static <Q> HostRequest<Q> aggregated(Q payload, SelectRequest selection) {
        return new HostRequest<>(payload, selection, Phase.AGGREGATED);
    }
}

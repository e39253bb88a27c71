package dev.tandemkv.coordinator.host;

import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Tells an index that learns from decisions where a request went. A failure is only a warning. */
@FunctionalInterface
public interface RoutingRecord {

    CompletionStage<Void> record(SelectRequest request, Selection selection);

    /** For indexes that learn from events. The default. */
    static RoutingRecord none() {
        return (request, selection) -> CompletableFuture.completedFuture(null);
    }
}

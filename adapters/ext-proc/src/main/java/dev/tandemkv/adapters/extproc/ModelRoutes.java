package dev.tandemkv.adapters.extproc;

import dev.tandemkv.catalog.PartitionKey;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Which partition serves the model that a client named. Thread-safe. */
@FunctionalInterface
public interface ModelRoutes {

    /**
     * @param model {@code model} of the request's body; empty if it has none
     * @throws dev.tandemkv.catalog.SelectionException where this picker does not serve the model; the client gets its status
     */
    Route route(String model);

    /** Everything goes to one partition, whatever the client calls the model. */
    static ModelRoutes single(PartitionKey partition) {
        Route only = new Route(partition, null);
        return model -> only;
    }

    /**
     * Where a model is served.
     *
     * @param partition of the pool, or of the decode pool
     * @param loraName the adapter that the model is, or {@code null} for the base model
     */
    record Route(PartitionKey partition, @Nullable String loraName) {
        public Route {
            Objects.requireNonNull(partition, "partition");
        }
    }
}

package dev.tandemkv.catalog.source;

import dev.tandemkv.catalog.WorkerSpec;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** A membership that never changes. Thread-safe. */
public final class FixedSource implements WorkerCatalogSource {

    private final InMemorySource only = new InMemorySource();

    public FixedSource(List<WorkerSpec> workers) {
        only.publish(new CatalogSnapshot(workers));
    }

    @Override
    public CompletionStage<Optional<CatalogSnapshot>> nextSnapshot() {
        return only.nextSnapshot();
    }

    @Override
    public void close() {
        only.close();
    }
}

package dev.tandemkv.examples.picker;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.source.CatalogSnapshot;
import dev.tandemkv.catalog.source.WorkerCatalogSource;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Workers of a source, completed by what all workers of the pool have in common: a file needs to name no more than id and endpoint. */
final class PoolDefaults implements WorkerCatalogSource {

    private final WorkerCatalogSource source;
    private final Options options;
    private final boolean events;

    /** @param events whether the pool follows the engines' events */
    PoolDefaults(WorkerCatalogSource source, Options options, boolean events) {
        this.source = source;
        this.options = options;
        this.events = events;
    }

    @Override
    public CompletionStage<Optional<CatalogSnapshot>> nextSnapshot() {
        return source.nextSnapshot()
                .thenApply(read -> read.map(snapshot -> new CatalogSnapshot(completed(snapshot.workers()))));
    }

    private List<WorkerSpec> completed(List<WorkerSpec> workers) {
        return workers.stream().map(this::complete).toList();
    }

    private WorkerSpec complete(WorkerSpec worker) {
        WorkerSpec.Builder complete = worker.toBuilder();
        if (worker.partition().equals(PartitionKey.DEFAULT)) {
            complete.partition(PartitionKey.ofModel(options.model()));
        }
        if (worker.blockSize() == null) {
            complete.blockSize(options.blockSize());
        }
        if (worker.dataParallelSize() == null) {
            complete.dataParallelSize(options.dataParallelSize);
        }
        if (worker.totalKvBlocks() == null) {
            complete.totalKvBlocks(options.totalKvBlocks);
        }
        if (worker.maxNumBatchedTokens() == null) {
            complete.maxNumBatchedTokens(options.maxNumBatchedTokens);
        }
        String host = host(worker.endpoint());
        if (events && host != null) {
            addresses(worker, host, complete);
        }
        return complete.build();
    }

    private void addresses(WorkerSpec worker, String host, WorkerSpec.Builder complete) {
        if (worker.kvEventsEndpoint() == null && worker.kvEventsEndpoints().isEmpty()) {
            int ranks = worker.dataParallelSize() == null ? options.dataParallelSize : worker.rankCount();
            Map<Integer, String> byRank = new HashMap<>();
            for (int rank = worker.startRank(); rank < worker.startRank() + ranks; rank++) {
                byRank.put(rank, "tcp://" + host + ':' + (options.kvEventPort + rank * options.kvEventPortStride));
            }
            complete.kvEventsEndpoints(byRank);
        }
        if (worker.replayEndpoint() == null && options.kvEventReplayPort != null) {
            complete.replayEndpoint("tcp://" + host + ':' + options.kvEventReplayPort);
        }
    }

    private static @Nullable String host(@Nullable String endpoint) {
        if (endpoint == null) {
            return null;
        }
        try {
            return URI.create(endpoint.contains("://") ? endpoint : "http://" + endpoint)
                    .getHost();
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    @Override
    public void close() {
        source.close();
    }
}

package dev.tandemkv.benchmarks.gateway;

import dev.tandemkv.adapters.extproc.EndpointPickerService;
import dev.tandemkv.adapters.extproc.PickerRouting;
import dev.tandemkv.adapters.extproc.PoolEndpoints;
import dev.tandemkv.adapters.tokenizer.TokenizeRequest;
import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import dev.tandemkv.adapters.tokenizer.Tokenizer;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.SelectionCore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.IntStream;

/** A picker over a pool of 64 workers, all of which listen at one address. */
final class Picker implements AutoCloseable {

    private static final int WORKERS = 64;

    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
    final SelectionCore core;
    final int[] tokens;
    final EndpointPickerService service;

    Picker(String engine, int bodyBytes) {
        Scheduler scheduler = Scheduler.of(timers);
        core = SelectionCore.builder()
                .scheduler(scheduler)
                .random(new SeededRandom(42))
                .build();
        for (int w = 1; w <= WORKERS; w++) {
            core.upsert(WorkerSpec.builder(w)
                    .endpoint(engine)
                    .blockSize(16)
                    .maxNumBatchedTokens(8_192L)
                    .build());
        }
        tokens = IntStream.range(0, bodyBytes / 4).toArray();
        service = EndpointPickerService.builder(
                        PickerRouting.aggregated(core),
                        PoolEndpoints.of(core, PartitionKey.DEFAULT),
                        new Ready(TokenizedPrompt.of(tokens)),
                        scheduler)
                .build();
    }

    @Override
    public void close() {
        service.close();
        core.close();
        timers.shutdownNow();
    }

    /** Always the same answer, at once. */
    private record Ready(TokenizedPrompt answer) implements Tokenizer {

        @Override
        public CompletionStage<TokenizedPrompt> tokenize(TokenizeRequest request) {
            return CompletableFuture.completedFuture(answer);
        }

        @Override
        public void close() {}
    }
}

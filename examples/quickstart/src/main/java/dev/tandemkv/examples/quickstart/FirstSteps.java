package dev.tandemkv.examples.quickstart;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.BlockHashes;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionCore;
import java.util.function.Consumer;

/** The first lines of code that use the library, as the README shows them. */
final class FirstSteps {

    private FirstSteps() {}

    /** Two workers, of which one has the prompt in its cache: it is chosen, booked, and let go when the request ends. */
    static void selectAWorker(Scheduler scheduler, int[] tokens, Consumer<String> send) {
        // region select a worker
        SelectionCore core = SelectionCore.builder().scheduler(scheduler).build();
        core.upsert(
                WorkerSpec.builder(1).endpoint("10.0.0.1:8000").blockSize(64).build());
        core.upsert(
                WorkerSpec.builder(2).endpoint("10.0.0.2:8000").blockSize(64).build());
        BlockHashes held = BlockHasher.ofBlockSize(64).hash(tokens, HashScope.BASE, MultimodalObjects.NONE);
        core.apply(
                PartitionKey.DEFAULT, WorkerRank.of(2), KvEvent.Stored.device(null, held.sequences(), held.locals()));
        SelectRequest request = SelectRequest.builder(Prompt.ofTokens(tokens)).build();
        core.selectAndReserve(request).thenAccept(booking -> {
            try (booking) { // the load stays booked until here, and is freed on every way out
                send.accept(booking.selection().endpoint()); // 10.0.0.2:8000
                booking.prefillComplete(); // the first token has come
            }
        });
        // endregion
    }

    /** A prefill and a decode worker for one request, freed together. */
    static void coordinateAPair(
            SelectionCore prefillPool,
            SelectionCore decodePool,
            Scheduler scheduler,
            int[] tokens,
            Consumer<String> send) {
        // region coordinate a pair
        DisaggCoordinator coordinator =
                DisaggCoordinator.builder(prefillPool, decodePool, scheduler).build();

        DisaggRequest request = DisaggRequest.builder("request-1", Prompt.ofTokens(tokens))
                .expectedOutputTokens(200)
                .build();
        coordinator.plan(request, CancellationSignal.never()).thenAccept(plan -> {
            try (plan) { // both bookings, or none: a failure on the way here has freed what was held
                send.accept(plan.booking(Leg.PREFILL).orElseThrow().selection().endpoint());
                coordinator.prefillComplete(plan); // frees the prefill worker
                send.accept(plan.booking(Leg.DECODE).orElseThrow().selection().endpoint());
            }
        });
        // endregion
    }
}

package dev.tandemkv.adapters.extproc;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A pool that remembers what it was asked, and whose answers wait for a gate each. */
final class GatedPool implements SelectionPool {

    private final SelectionPool pool;
    final List<SelectRequest> asked = new ArrayList<>();
    CompletableFuture<Void> reserving = CompletableFuture.completedFuture(null);
    CompletableFuture<Void> freeing = CompletableFuture.completedFuture(null);

    GatedPool(SelectionPool pool) {
        this.pool = pool;
    }

    @Override
    public CompletionStage<Selection> select(SelectRequest request) {
        return pool.select(request);
    }

    @Override
    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        asked.add(request);
        return reserving.thenCompose(go -> pool.selectAndReserve(request));
    }

    @Override
    public CompletionStage<FreeOutcome> free(Booking booking) {
        return freeing.thenCompose(go -> pool.free(booking));
    }

    @Override
    public CompletionStage<FreeOutcome> free(String selectionId) {
        return freeing.thenCompose(go -> pool.free(selectionId));
    }

    @Override
    public CompletionStage<Void> prefillComplete(Booking booking) {
        return pool.prefillComplete(booking);
    }

    @Override
    public CompletionStage<Void> touch(Booking booking) {
        return pool.touch(booking);
    }

    @Override
    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
        return pool.workerRecord(partition, workerId);
    }
}

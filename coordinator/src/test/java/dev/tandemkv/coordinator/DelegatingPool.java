package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** Passes every call on; tests override the one they break. */
public abstract class DelegatingPool implements SelectionPool {

    private final SelectionPool target;

    protected DelegatingPool(SelectionPool target) {
        this.target = target;
    }

    @Override
    public CompletionStage<Selection> select(SelectRequest request) {
        return target.select(request);
    }

    @Override
    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        return target.selectAndReserve(request);
    }

    @Override
    public CompletionStage<FreeOutcome> free(Booking booking) {
        return target.free(booking);
    }

    @Override
    public CompletionStage<FreeOutcome> free(String selectionId) {
        return target.free(selectionId);
    }

    @Override
    public CompletionStage<Void> prefillComplete(Booking booking) {
        return target.prefillComplete(booking);
    }

    @Override
    public CompletionStage<Void> touch(Booking booking) {
        return target.touch(booking);
    }

    @Override
    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
        return target.workerRecord(partition, workerId);
    }
}

package dev.tandemkv.testkit.pool;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts what is booked, freed and marked. Thread-safe if the other pool is. */
final class CountingPool implements SelectionPool {

    private final SelectionPool target;
    private final LongAdder booked = new LongAdder();
    private final LongAdder freed = new LongAdder();
    private final Map<BookingId, LongAdder> marks = new ConcurrentHashMap<>();

    CountingPool(SelectionPool target) {
        this.target = target;
    }

    long booked() {
        return booked.sum();
    }

    long freed() {
        return freed.sum();
    }

    long mostMarksOfOneBooking() {
        return marks.values().stream().mapToLong(LongAdder::sum).max().orElse(0);
    }

    @Override
    public CompletionStage<Selection> select(SelectRequest request) {
        return target.select(request);
    }

    @Override
    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        return target.selectAndReserve(request).thenApply(booking -> {
            booked.increment();
            return booking;
        });
    }

    @Override
    public CompletionStage<FreeOutcome> free(Booking booking) {
        return counted(target.free(booking));
    }

    @Override
    public CompletionStage<FreeOutcome> free(String selectionId) {
        return counted(target.free(selectionId));
    }

    private CompletionStage<FreeOutcome> counted(CompletionStage<FreeOutcome> answer) {
        return answer.thenApply(outcome -> {
            if (outcome == FreeOutcome.FREED) {
                freed.increment();
            }
            return outcome;
        });
    }

    @Override
    public CompletionStage<Void> prefillComplete(Booking booking) {
        marks.computeIfAbsent(booking.id(), id -> new LongAdder()).increment();
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

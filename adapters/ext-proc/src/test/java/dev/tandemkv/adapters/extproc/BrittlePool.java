package dev.tandemkv.adapters.extproc;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A pool whose bookings do what they are told and then throw, as a remote pool's might; and which may answer late or not at all. */
final class BrittlePool implements SelectionPool {

    enum Answer {
        AT_ONCE,
        WHEN_LET_GO,
        NULL_STAGE,
        NULL_BOOKING,
        THROWS
    }

    private final SelectionPool pool;
    private final Answer answer;
    private final CompletableFuture<Void> letGo = new CompletableFuture<>();

    int closed;

    @Nullable
    SelectRequest asked;

    BrittlePool(SelectionPool pool, Answer answer) {
        this.pool = pool;
        this.answer = answer;
    }

    void letGo() {
        letGo.complete(null);
    }

    /** As a stage of a foreign library, it cannot be cancelled from outside. */
    @Override
    @SuppressWarnings("NullAway") // that it breaks the contract is the point
    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        asked = request;
        return switch (answer) {
            case AT_ONCE -> pool.selectAndReserve(request).thenApply(Brittle::new);
            case WHEN_LET_GO ->
                letGo.thenCompose(go -> pool.selectAndReserve(request))
                        .<Booking>thenApply(Brittle::new)
                        .minimalCompletionStage();
            case NULL_STAGE -> null;
            case NULL_BOOKING -> CompletableFuture.completedFuture(null);
            case THROWS -> throw new IllegalStateException("the pool is broken");
        };
    }

    @Override
    public CompletionStage<Selection> select(SelectRequest request) {
        return pool.select(request);
    }

    @Override
    public CompletionStage<FreeOutcome> free(Booking booking) {
        return pool.free(booking);
    }

    @Override
    public CompletionStage<FreeOutcome> free(String selectionId) {
        return pool.free(selectionId);
    }

    @Override
    public CompletionStage<Void> prefillComplete(Booking booking) {
        return pool.prefillComplete(booking);
    }

    @Override
    public CompletionStage<Void> touch(Booking booking) {
        throw new IllegalStateException("the line is down");
    }

    @Override
    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
        return pool.workerRecord(partition, workerId);
    }

    private final class Brittle implements Booking {
        private final Booking booking;

        Brittle(Booking booking) {
            this.booking = booking;
        }

        @Override
        public BookingId id() {
            return booking.id();
        }

        @Override
        public Selection selection() {
            return booking.selection();
        }

        @Override
        public void prefillComplete() {
            booking.prefillComplete();
            throw new IllegalStateException("the line is down");
        }

        @Override
        public void addOutputBlocks(int blocks) {
            booking.addOutputBlocks(blocks);
        }

        @Override
        public void addOutputBlocks(int blocks, double remainingFraction) {
            booking.addOutputBlocks(blocks, remainingFraction);
        }

        @Override
        public void close() {
            closed++;
            booking.close();
            throw new IllegalStateException("the line is down");
        }
    }
}

package dev.tandemkv.testkit.pool;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.TimeLimitedPool;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.SelectionPool;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class SelectionPoolContractTest {

    private static LedgerPool ledgerPool() {
        return new LedgerPool(List.of(spec(1), spec(2)));
    }

    private static WorkerSpec spec(long id) {
        return WorkerSpec.builder(id)
                .endpoint("host" + id + ":8000")
                .blockSize(16)
                .build();
    }

    @Test
    void ledgerPool_keepsTheContract() {
        SelectionPoolContract.verify(SelectionPoolContractTest::ledgerPool);
    }

    @Test
    void selectionCore_keepsTheContract() {
        SelectionPoolContract.verify(() -> {
            VirtualTime time = new VirtualTime();
            SelectionCore core = SelectionCore.builder()
                    .ticker(time)
                    .clock(time.clock())
                    .scheduler(time)
                    .random(new SeededRandom(1))
                    .build();
            core.upsert(spec(1));
            core.upsert(spec(2));
            return core;
        });
    }

    @Test
    void decoratedPools_keepTheContract() {
        VirtualTime time = new VirtualTime();
        SelectionPoolContract.verify(
                () -> new TimeLimitedPool(ledgerPool(), Duration.ofSeconds(1), Duration.ofMinutes(5), time));
        SelectionPoolContract.verify(() -> new FaultyPool(ledgerPool(), time, new SeededRandom(1), FaultRates.NONE));
    }

    @Test
    void poolThatFreesById_isFoundOut() {
        assertThatThrownBy(() -> SelectionPoolContract.verify(Careless::new))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("FREE_HITS_ITS_INSTANCE_ONLY: a late free hit the booking of a retry")
                .hasMessageContaining("WORKER_RECORD_OF_ITS_PARTITION: a record leaks into another partition");
    }

    /** Looks bookings up by id and workers in every partition. */
    private static final class Careless implements SelectionPool {
        private final LedgerPool pool = ledgerPool();

        @Override
        public CompletionStage<Selection> select(SelectRequest request) {
            return pool.select(request);
        }

        @Override
        public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
            return pool.selectAndReserve(request);
        }

        @Override
        public CompletionStage<FreeOutcome> free(Booking booking) {
            return pool.free(booking.id().selectionId());
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
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
            return pool.workerRecord(PartitionKey.DEFAULT, workerId);
        }
    }
}

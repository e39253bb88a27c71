package dev.tandemkv.testkit.pool;

import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.TimeLimitedPool;
import dev.tandemkv.selection.SelectionCore;
import java.time.Duration;
import java.util.List;
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
}

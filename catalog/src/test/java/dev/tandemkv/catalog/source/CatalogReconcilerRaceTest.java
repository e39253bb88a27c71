package dev.tandemkv.catalog.source;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.NaiveCatalog;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Claims: whoever publishes, fails or drives the time, passes never overlap, and the last snapshot is what the catalog ends with. The
 * catalog behind is a plain map, so an overlap would also break it.
 */
class CatalogReconcilerRaceTest {

    private static CatalogSnapshot snapshot(int seed) {
        List<WorkerSpec> workers = new ArrayList<>();
        for (int id = 1; id <= 6; id++) {
            if ((seed >> id & 1) == 1) {
                WorkerSpec.Builder builder = WorkerSpec.builder(id).endpoint("h:80");
                workers.add((seed % 3 == 0 ? builder : builder.blockSize(16)).build());
            }
        }
        return new CatalogSnapshot(workers);
    }

    @Test
    void publishFailAndRetry_fromManyThreads_neverOverlapAndConverge() throws Exception {
        VirtualTime time = new VirtualTime();
        NaiveCatalog catalog = new NaiveCatalog();
        AtomicInteger inside = new AtomicInteger();
        AtomicBoolean overlapped = new AtomicBoolean();
        catalog.beforeItem = () -> {
            if (inside.incrementAndGet() != 1) {
                overlapped.set(true);
            }
            Thread.onSpinWait();
            inside.decrementAndGet();
        };
        InMemorySource source = new InMemorySource();
        CatalogReconciler.builder(catalog, source, time).build().start();
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            int number = t;
            Thread thread = new Thread(() -> {
                try {
                    start.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                for (int i = 0; i < 3_000; i++) {
                    if (number == 0) {
                        time.advance(Duration.ofSeconds(1));
                    } else if (i % 50 == 0) {
                        source.fail(new IllegalStateException("down"));
                    } else {
                        source.publish(snapshot(i * 31 + number * 7));
                    }
                }
            });
            thread.start();
            threads.add(thread);
        }
        start.countDown();
        for (Thread thread : threads) {
            thread.join();
        }

        source.publish(snapshot(0b1010_1010_1));
        time.advance(Duration.ofMinutes(3));
        assertThat(overlapped).isFalse();
        assertThat(catalog.records.values().stream().map(r -> r.spec()).toList())
                .containsExactlyInAnyOrderElementsOf(snapshot(0b1010_1010_1).workers());
    }
}

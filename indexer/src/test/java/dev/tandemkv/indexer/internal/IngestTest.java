package dev.tandemkv.indexer.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.HolePolicy;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class IngestTest {

    @Test
    void enqueue_whileAnotherThreadIsAtWork_waitsInTheQueue_andABoundRefuses() throws InterruptedException {
        IndexCore core = new IndexCore(new IndexSettings(
                HolePolicy.EXACT, SourceTraits.DEFAULT, new SeededRandom(1), 8, 8, 0, Long.MAX_VALUE));
        Ingest ingest = new Ingest(core, 2, null, null);
        WorkerRank rank = WorkerRank.of(1);
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        Thread busy = new Thread(() -> ingest.exclusively(() -> {
            inside.countDown();
            try {
                leave.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        busy.start();
        inside.await();
        assertThat(ingest.enqueue(rank, block(1))).isTrue();
        assertThat(ingest.enqueue(rank, block(2))).isTrue();
        assertThat(ingest.enqueue(rank, block(3))).isFalse();
        assertThat(ingest.depth()).isEqualTo(2);
        leave.countDown();
        busy.join();
        // The thread that was at work applied what the others left behind.
        assertThat(core.blocks(rank)).isEqualTo(2);
        assertThat(ingest.depth()).isZero();
        assertThat(ingest.highWater()).isEqualTo(2);
    }

    private static KvEvent block(long hash) {
        return KvEvent.Stored.device(null, new long[] {hash}, new long[] {hash});
    }
}

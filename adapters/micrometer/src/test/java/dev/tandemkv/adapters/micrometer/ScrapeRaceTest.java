package dev.tandemkv.adapters.micrometer;

import static dev.tandemkv.adapters.micrometer.MetricsFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import io.micrometer.core.instrument.Meter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Scrapes while requests are served and workers come and go: nothing is counted twice or lost, no series of a worker that left stays, and
 * none is registered twice.
 */
class ScrapeRaceTest {

    private static final int ROUNDS = 200;

    @Test
    void scrapesBookingsAndMembershipAtOnce_endWithTheTruth() throws Exception {
        MetricsFixture f = new MetricsFixture().workers(1);
        List<Step> racers = List.of(
                i -> serve(f, "a" + i),
                i -> serve(f, "b" + i),
                i -> {
                    f.core.upsert(WorkerSpec.builder(100 + i % 5)
                            .endpoint("10.0.1.1:8000")
                            .blockSize(MetricsFixture.B)
                            .build());
                    f.core.remove(100 + i % 5);
                },
                i -> {
                    f.metrics.refresh();
                    f.registry.scrape();
                },
                i -> {
                    f.time.advance(Duration.ofSeconds(1));
                    f.registry.scrape();
                });
        race(racers);

        Scrape scrape = f.scrape();

        double booked = scrape.value("tandemkv_bookings_total", "model", "default");
        assertThat(booked).isEqualTo(2 * ROUNDS);
        assertThat(scrape.value("tandemkv_bookings_ended_total", "model", "default"))
                .isEqualTo(booked);
        assertThat(scrape.samples.stream()
                        .filter(s -> s.name().equals("dynamo_router_worker_registered"))
                        .map(s -> s.labels().get("router_worker_id")))
                .containsExactly("1");
        assertThat(f.registry.getMeters().stream().map(Meter::getId)).doesNotHaveDuplicates();
        f.metrics.close();
        assertThat(f.registry.getMeters()).isEmpty();
    }

    /** On the worker that stays. */
    private static void serve(MetricsFixture f, String id) {
        f.core.selectAndReserve(request(1, 64, id).toBuilder()
                        .pinnedWorker(WorkerRank.of(1))
                        .build())
                .toCompletableFuture()
                .join()
                .close();
    }

    /** One step of a racer. */
    private interface Step {
        void run(int round) throws Exception;
    }

    private static void race(List<Step> racers) throws Exception {
        CyclicBarrier start = new CyclicBarrier(racers.size());
        ExecutorService threads = Executors.newFixedThreadPool(racers.size());
        List<Future<?>> running = new ArrayList<>();
        try {
            for (Step racer : racers) {
                running.add(threads.submit(() -> {
                    start.await();
                    for (int i = 0; i < ROUNDS; i++) {
                        racer.run(i);
                    }
                    return null;
                }));
            }
            for (Future<?> future : running) {
                future.get(50, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
    }
}

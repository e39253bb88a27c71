package dev.tandemkv.coordinator.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.CancellationSignal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** s43: the end of the response, the subscriber's cancel, the handle's close and the client's stop at once; one free. */
class GuardRaceTest {

    private final ExecutorService threads = Executors.newFixedThreadPool(4);

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    @Test
    void s43_everyEndAtOnce_oneFree() throws Exception {
        for (int i = 0; i < 200; i++) {
            HostFixture f = new HostFixture();
            RoutingHost<String, Integer> host = f.builder().build();
            CancellationSignal.Source client = CancellationSignal.source();
            RoutedStream<Integer> stream = HostFixture.get(host.route(HostFixture.request(), client));
            HostFixture.Sink sink = HostFixture.read(stream);
            CyclicBarrier start = new CyclicBarrier(4);
            List<Future<?>> running = new ArrayList<>();
            List<Runnable> ends = List.of(f.last()::complete, sink.subscription::cancel, stream::close, client::cancel);
            for (Runnable end : ends) {
                running.add(threads.submit(() -> {
                    start.await();
                    end.run();
                    return null;
                }));
            }
            for (Future<?> future : running) {
                future.get(30, TimeUnit.SECONDS);
            }
            assertThat(f.pool.frees).containsExactly("q");
            assertThat(f.pool.live()).isZero();
            assertThat(sink.completed && sink.failure != null).as("two ends").isFalse();
        }
    }
}

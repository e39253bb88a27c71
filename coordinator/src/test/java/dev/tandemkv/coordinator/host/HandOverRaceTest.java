package dev.tandemkv.coordinator.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.selection.BookingId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The last part, two takers, the client's leaving, a failed leg, a removed worker and the deadline, all at once: one of them counts. */
class HandOverRaceTest {

    private final ExecutorService threads = Executors.newFixedThreadPool(7);

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private static final class Port implements HandOverPort {
        final AtomicInteger told = new AtomicInteger();
        final AtomicInteger ended = new AtomicInteger();

        @Override
        public void cancelPrefill(HandOver handOver) {
            told.incrementAndGet();
        }

        @Override
        public void cleanUp(HandOver handOver) {
            told.incrementAndGet();
        }

        @Override
        public void ended(HandOver handOver) {
            ended.incrementAndGet();
        }
    }

    @ParameterizedTest
    @EnumSource(DisconnectPolicy.class)
    void everythingAtOnce_oneEndOneDelivery(DisconnectPolicy policy) throws Exception {
        for (int round = 0; round < 500; round++) {
            VirtualTime time = new VirtualTime();
            Port port = new Port();
            HandOvers all = HandOvers.builder(policy, port, time, new SeededRandom(round))
                    .deadline(Duration.ofMillis(1))
                    .build();
            HandOver handOver = all.open(new BookingId("r", WorkerRank.of(1), 1), 2, 1);
            handOver.partArrived(0);
            AtomicInteger taken = new AtomicInteger();
            List<Runnable> events = new ArrayList<>(List.of(
                    () -> handOver.partArrived(1),
                    () -> take(handOver, taken),
                    () -> take(handOver, taken),
                    handOver::clientGone,
                    () -> time.advance(Duration.ofMillis(2))));
            if (round % 2 == 0) {
                events.add(() -> handOver.fail(Leg.DECODE, new IllegalStateException("decode")));
                events.add(() -> all.workerRemoved(1));
            }
            race(events);
            time.advance(Duration.ofSeconds(121));
            assertThat(handOver.status().isEnd()).isTrue();
            assertThat(taken.get()).isEqualTo(handOver.status() == HandOver.Status.DONE ? 1 : 0);
            assertThat(port.ended).hasValue(1);
            assertThat(port.told).hasValueLessThanOrEqualTo(1);
            assertThat(all.live()).isEmpty();
        }
    }

    private static void take(HandOver handOver, AtomicInteger taken) {
        try {
            handOver.take();
            taken.incrementAndGet();
        } catch (HandOverException unusable) {
            assertThat(unusable.kind()).isNotNull();
        }
    }

    private void race(List<Runnable> events) throws Exception {
        CyclicBarrier start = new CyclicBarrier(events.size());
        List<Future<?>> running = new ArrayList<>();
        for (Runnable event : events) {
            running.add(threads.submit(() -> {
                start.await();
                event.run();
                return null;
            }));
        }
        for (Future<?> future : running) {
            future.get(30, TimeUnit.SECONDS);
        }
    }
}

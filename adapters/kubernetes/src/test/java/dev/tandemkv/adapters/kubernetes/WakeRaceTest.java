package dev.tandemkv.adapters.kubernetes;

import static dev.tandemkv.adapters.kubernetes.Cluster.LABELS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.VirtualTime;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls from many threads: steps never overlap, none is lost, and a close ends them whenever it comes. */
class WakeRaceTest {

    private final ScheduledExecutorService executor = Executors.newScheduledThreadPool(4);

    @AfterEach
    void stop() {
        executor.shutdownNow();
    }

    @Test
    void in_fromManyThreads_oneStepAtATime_andTheLastCallIsFollowedByOne() throws InterruptedException {
        AtomicInteger called = new AtomicInteger();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        AtomicInteger seen = new AtomicInteger();
        Wake wake = new Wake(Scheduler.of(executor), () -> {
            if (inside.incrementAndGet() > 1) {
                overlaps.incrementAndGet();
            }
            seen.set(called.get());
            inside.decrementAndGet();
        });
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            callers.add(new Thread(() -> {
                for (int n = 0; n < 2_000; n++) {
                    called.incrementAndGet();
                    wake.in(Duration.ZERO);
                }
            }));
        }
        callers.forEach(Thread::start);
        for (Thread caller : callers) {
            caller.join();
        }
        Eventually.await("a step after the last call", () -> seen.get() == 8_000);
        assertThat(overlaps).hasValue(0);
    }

    @Test
    void in_whileTheStepRuns_isFollowedByAnotherStep() {
        VirtualTime time = new VirtualTime();
        AtomicInteger steps = new AtomicInteger();
        AtomicReference<Wake> self = new AtomicReference<>();
        Wake wake = new Wake(time, () -> {
            if (steps.incrementAndGet() == 1) {
                self.get().in(Duration.ofSeconds(2));
                self.get().in(Duration.ofSeconds(1));
            }
        });
        self.set(wake);
        wake.in(Duration.ofSeconds(1));
        wake.in(Duration.ofSeconds(1));
        time.advance(Duration.ofSeconds(1));
        assertThat(steps).hasValue(1);
        time.advance(Duration.ofSeconds(1));
        assertThat(steps).hasValue(2);
        assertThat(time.pending()).isZero();
    }

    @Test
    void step_thatThrows_doesNotEndTheSteps() {
        VirtualTime time = new VirtualTime();
        AtomicInteger steps = new AtomicInteger();
        Wake wake = new Wake(time, () -> {
            steps.incrementAndGet();
            throw new IllegalStateException("on purpose");
        });
        for (int i = 1; i <= 2; i++) {
            wake.in(Duration.ZERO);
            time.advance(Duration.ZERO);
            assertThat(steps).hasValue(i);
        }
    }

    @Test
    void schedulerThatRefuses_isAskedAgainByTheNextCall() {
        AtomicInteger asked = new AtomicInteger();
        Wake wake = new Wake(
                (delay, work) -> {
                    if (asked.incrementAndGet() == 1) {
                        throw new IllegalStateException("on purpose");
                    }
                    return () -> {};
                },
                () -> {});
        try {
            wake.in(Duration.ZERO);
        } catch (IllegalStateException e) {
            assertThat(e).hasMessage("on purpose");
        }
        wake.in(Duration.ZERO);
        assertThat(asked).hasValue(2);
    }

    /** Whether the first look has begun, lists, watches or is over when the close comes: no watch stays. */
    @Test
    void sourceClosedAtAnyMoment_leavesNoWatch() {
        try (FakeApiServer server = new FakeApiServer();
                KubernetesClient client = server.client()) {
            for (int i = 0; i < 15; i++) {
                KubernetesCatalogSource source = KubernetesCatalogSource.ofPods(
                                client, Scheduler.of(executor), "ns", LABELS, 8000)
                        .build();
                source.nextSnapshot();
                for (int wait = 0; wait < i * 50; wait++) {
                    Thread.yield();
                }
                source.close();
            }
            // By when one more has come as far as a watch, the others have as well.
            KubernetesCatalogSource last = KubernetesCatalogSource.ofPods(
                            client, Scheduler.of(executor), "last", LABELS, 8000)
                    .build();
            assertThat(last.nextSnapshot()).succeedsWithin(Eventually.BOUND);
            Eventually.await("a watch", () -> server.failures().openWatches("last") > 0);
            last.close();
            for (String namespace : List.of("ns", "last")) {
                Eventually.await("no watch", () -> server.failures().openWatches(namespace) == 0);
            }
        }
    }
}

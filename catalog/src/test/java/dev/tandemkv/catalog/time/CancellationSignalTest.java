package dev.tandemkv.catalog.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CancellationSignalTest {

    private final CancellationSignal.Source source = CancellationSignal.source();
    private final List<String> ran = new ArrayList<>();

    @Test
    void cancel_runsEachActionOnceInOrder() {
        source.onCancel(() -> ran.add("a"));
        source.onCancel(() -> ran.add("b"));
        assertThat(source.isCancelled()).isFalse();
        source.cancel();
        source.cancel();
        assertThat(source.isCancelled()).isTrue();
        assertThat(ran).containsExactly("a", "b");
    }

    @Test
    void onCancel_afterTheFact_runsAtOnce() {
        source.cancel();
        source.onCancel(() -> ran.add("late")).close();
        assertThat(ran).containsExactly("late");
    }

    @Test
    void registration_closed_takesItsOwnActionBackOnly() {
        Runnable shared = () -> ran.add("x");
        CancellationSignal.Registration first = source.onCancel(shared);
        source.onCancel(shared);
        first.close();
        first.close();
        source.cancel();
        assertThat(ran).containsExactly("x");
        first.close();
    }

    @Test
    void cancel_anActionThatThrows_keepsNoOtherFromRunning() {
        source.onCancel(() -> {
            throw new IllegalStateException("first");
        });
        source.onCancel(() -> ran.add("second"));
        source.onCancel(() -> {
            throw new IllegalStateException("third");
        });
        assertThatThrownBy(source::cancel)
                .hasMessage("first")
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        assertThat(ran).containsExactly("second");
    }

    @Test
    void cancel_actionsMayUseTheSignal() {
        source.onCancel(() -> {
            ran.add("cancelled " + source.isCancelled());
            source.onCancel(() -> ran.add("nested"));
            source.cancel();
        });
        source.cancel();
        assertThat(ran).containsExactly("cancelled true", "nested");
    }

    @Test
    void never_neverFires() {
        CancellationSignal.never().onCancel(() -> ran.add("x")).close();
        assertThat(CancellationSignal.never().isCancelled()).isFalse();
        assertThat(ran).isEmpty();
    }

    /** However registering and cancelling interleave, each action that was not taken back runs exactly once. */
    @Test
    void onCancel_racingWithCancel_runsEachActionOnce() throws Exception {
        for (int round = 0; round < 300; round++) {
            CancellationSignal.Source raced = CancellationSignal.source();
            AtomicInteger runs = new AtomicInteger();
            CountDownLatch start = new CountDownLatch(1);
            Thread registering = new Thread(() -> {
                await(start);
                for (int i = 0; i < 50; i++) {
                    raced.onCancel(runs::incrementAndGet);
                }
            });
            Thread cancelling = new Thread(() -> {
                await(start);
                raced.cancel();
            });
            registering.start();
            cancelling.start();
            start.countDown();
            registering.join();
            cancelling.join();
            assertThat(runs).hasValue(50);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}

package dev.tandemkv.catalog.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class VirtualTimeTest {

    private final VirtualTime time = new VirtualTime();
    private final List<String> ran = new ArrayList<>();

    private Runnable note(String name) {
        return () -> ran.add(name + "@" + time.read());
    }

    @Test
    void advance_runsDueTasksInOrderAtTheirOwnTime() {
        time.schedule(Duration.ofNanos(20), note("late"));
        time.schedule(Duration.ofNanos(10), note("first"));
        time.schedule(Duration.ofNanos(10), note("second"));
        time.schedule(Duration.ofNanos(31), note("never"));

        time.advance(Duration.ofNanos(30));

        assertThat(ran).containsExactly("first@10", "second@10", "late@20");
        assertThat(time.read()).isEqualTo(30);
        assertThat(time.pending()).isEqualTo(1);
    }

    @Test
    void advance_runsTasksThatTasksSchedule() {
        time.schedule(Duration.ofNanos(1), () -> time.schedule(Duration.ofNanos(1), note("chained")));
        time.schedule(Duration.ZERO, () -> time.schedule(Duration.ZERO, note("same instant")));
        time.advance(Duration.ofNanos(2));
        assertThat(ran).containsExactly("same instant@0", "chained@2");
    }

    @Test
    void schedule_neverRunsInsideItself() {
        time.schedule(Duration.ZERO, note("x"));
        time.schedule(Duration.ofNanos(-5), note("past"));
        assertThat(ran).isEmpty();
        time.advance(Duration.ZERO);
        assertThat(ran).containsExactly("x@0", "past@0");
    }

    @Test
    void cancel_beforeItsTime_withdrawsAndIsIdempotent() {
        Scheduler.Task task = time.schedule(Duration.ofNanos(1), note("x"));
        task.cancel();
        task.cancel();
        time.advance(Duration.ofNanos(2));
        assertThat(ran).isEmpty();
    }

    @Test
    void cancel_ofMost_countsAndRunsWhatIsLeft() {
        List<Scheduler.Task> bounds = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            bounds.add(time.schedule(Duration.ofNanos(100_000 - i), note("bound")));
        }
        Scheduler.Task ranBefore = time.schedule(Duration.ZERO, note("first"));
        time.advance(Duration.ZERO);
        // A queue that is searched for each of them takes minutes.
        bounds.subList(0, 99_999).forEach(Scheduler.Task::cancel);
        ranBefore.cancel();
        assertThat(time.pending()).isEqualTo(1);
        assertThat(time.runNext()).isTrue();
        assertThat(ran).containsExactly("first@0", "bound@1");
        bounds.get(99_999).cancel();
        assertThat(time.pending()).isZero();
        assertThat(time.runNext()).isFalse();
    }

    @Test
    void runNext_jumpsToTheNextTask() {
        assertThat(time.runNext()).isFalse();
        time.schedule(Duration.ofDays(1_000_000), note("far"));
        assertThat(time.runNext()).isTrue();
        assertThat(ran).hasSize(1);
        assertThat(time.pending()).isZero();
    }

    @Test
    void advance_beyondTheEndOfTime_saturates() {
        time.schedule(Duration.ofSeconds(Long.MAX_VALUE), note("end"));
        time.advance(Duration.ofSeconds(Long.MAX_VALUE));
        assertThat(time.read()).isEqualTo(Long.MAX_VALUE);
        assertThat(ran).hasSize(1);
        assertThatThrownBy(() -> time.advance(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void advance_byATask_isNotUndone() {
        time.schedule(Duration.ofNanos(1), () -> time.advance(Duration.ofNanos(100)));
        time.advance(Duration.ofNanos(10));
        assertThat(time.read()).isEqualTo(101);
    }

    @Test
    void clock_followsTheTicks() {
        Instant epoch = Instant.parse("2030-01-01T00:00:00Z");
        VirtualTime own = new VirtualTime(epoch);
        own.advance(Duration.ofSeconds(5));
        assertThat(own.clock().instant()).isEqualTo(epoch.plusSeconds(5));
        ZoneId tokyo = ZoneId.of("Asia/Tokyo");
        assertThat(own.clock().withZone(tokyo).getZone()).isEqualTo(tokyo);
        assertThat(own.clock().withZone(tokyo).instant()).isEqualTo(epoch.plusSeconds(5));
    }

    @Test
    void executorScheduler_runsAndCancelsAndTakesAnyDelay() throws Exception {
        ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
        try {
            Scheduler scheduler = Scheduler.of(executor);
            Scheduler.Task far = scheduler.schedule(Duration.ofSeconds(Long.MAX_VALUE), note("far"));
            far.cancel();
            far.cancel();
            scheduler.schedule(Duration.ZERO, note("now"));
        } finally {
            executor.shutdown();
            assertThat(executor.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(ran).hasSize(1);
    }

    @Test
    void executorScheduler_cancelledTask_keepsNothingOfItsWorkAlive() {
        ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
        try {
            Object held = new Object();
            WeakReference<Object> seen = new WeakReference<>(held);
            Scheduler.Task task = Scheduler.of(executor).schedule(Duration.ofDays(1), holding(held));
            task.cancel();
            held = null;

            for (int i = 0; i < 100 && seen.get() != null; i++) {
                System.gc();
            }
            assertThat(seen.get()).isNull();
        } finally {
            executor.shutdownNow();
        }
    }

    private static Runnable holding(Object held) {
        return held::hashCode;
    }

    @Test
    void systemTicker_neverGoesBack() {
        long before = Ticker.system().read();
        assertThat(Ticker.system().read() - before).isNotNegative();
    }
}

package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.config.SelectionConfig;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** A scheduler that refuses for a while: what must happen by time alone is late, not lost; no further booking is needed for that. */
class RefusingSchedulerTest {

    private static final Duration LEASE = Duration.ofSeconds(30);

    private final VirtualTime time = new VirtualTime();
    private boolean refuses;

    private SelectionCore core(SelectionConfig config) {
        SelectionCore core = SelectionCore.builder()
                .config(config)
                .ticker(time)
                .scheduler((delay, work) -> {
                    if (refuses) {
                        throw new RejectedExecutionException("full");
                    }
                    return time.schedule(delay, work);
                })
                .build();
        core.upsert(worker(1).maxNumBatchedTokens(8192L).build());
        return core;
    }

    @Test
    void leaseThatCouldNotBeTimed_endsOnceTheSchedulerWorksAgain() {
        SelectionCore core = core(SelectionConfig.builder().bookingLease(LEASE).build());
        refuses = true;
        now(core.reserve(request(1, 40).selectionId("a").build()));
        refuses = false;
        core.hostSignalsChanged();
        time.advance(LEASE.plusSeconds(1));
        assertThat(core.stats().reservations()).isZero();
    }

    @Test
    void leaseThatCouldNotBeTimed_isAskedForAgainAndAgain() {
        SelectionCore core = core(SelectionConfig.builder().bookingLease(LEASE).build());
        refuses = true;
        now(core.reserve(request(1, 40).selectionId("a").build()));
        core.hostSignalsChanged();
        time.advance(LEASE.plusSeconds(1));
        core.hostSignalsChanged();
        assertThat(core.stats().reservations()).isOne();
        refuses = false;
        core.hostSignalsChanged();
        time.advance(Duration.ZERO);
        assertThat(core.stats().reservations()).isZero();
    }

    @Test
    void deadlineInTheQueueThatCouldNotBeTimed_endsTheWaitOnceTheSchedulerWorksAgain() {
        SelectionCore core = core(SelectionConfig.builder().queueThreshold(0.0).build());
        Booking first = now(core.selectAndReserve(request(1, 40).build()));
        refuses = true;
        CompletableFuture<Booking> waits = core.selectAndReserve(request(2, 40)
                        .deadlineTick(Duration.ofSeconds(2).toNanos())
                        .build())
                .toCompletableFuture();
        assertThat(waits).isNotDone();
        refuses = false;
        core.hostSignalsChanged();
        time.advance(Duration.ofSeconds(3));
        assertThat(waits).isCompletedExceptionally();
        first.close();
        assertThat(core.stats().reservations()).isZero();
    }

    @Test
    void drain_thatCannotBeTimed_tellsSo_andTheWorkerTakesNothingNew() {
        SelectionCore core = core(SelectionConfig.DEFAULTS);
        Booking booking = now(core.selectAndReserve(request(1, 40).build()));
        refuses = true;

        assertThat(now(core.drain(1, Duration.ofSeconds(5)))).isEqualTo(DrainOutcome.NOT_TIMED);
        assertThat(core.select(request(2, 40).build()).toCompletableFuture()).isCompletedExceptionally();
        booking.close();
        assertThat(now(core.drain(1, Duration.ofSeconds(5))))
                .as("nothing to wait for, so nothing to time")
                .isEqualTo(DrainOutcome.DRAINED);
    }
}

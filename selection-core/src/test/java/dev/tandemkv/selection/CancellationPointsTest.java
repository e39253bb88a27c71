package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.TrackingConfig.PrefillLoadModel;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.LeaseObserver;
import dev.tandemkv.selection.host.LoadSink;
import dev.tandemkv.selection.host.RemoteIndex;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * A reserve is stopped in every way at every point where foreign code is called on its behalf; whatever becomes of it, once its caller has
 * closed what it got nothing is held.
 */
class CancellationPointsTest {

    /** Where foreign code runs for a reserve whose lookup is answered late, in order. */
    private enum Point {
        LOOKUP,
        AVAILABLE,
        OVERLOADED,
        ESTIMATE,
        ROUTING_RECORD,
        LOAD_SINK,
        ADMITTED,
        BOOKED,
        SELECTED,
        TIMED
    }

    private enum Stop {
        CANCEL,
        FREE_BY_ID,
        CLOSE_CORE,
        REMOVE_WORKER,
        COMPLETE
    }

    private static final Duration RECORD_TTL = Duration.ofSeconds(77);

    private final class Scene {
        final VirtualTime time = new VirtualTime();
        final CompletableFuture<List<RemoteIndex.Match>> lookup = new CompletableFuture<>();
        final SelectionCore core;
        Runnable stop = () -> {};
        Point at = Point.LOOKUP;
        boolean reached;
        int told;
        int leased;
        boolean disordered;

        Scene() {
            SelectionHost host = SelectionHost.builder()
                    .index(KvIndexSource.remote((partition, hashes) -> lookup))
                    .availableWorkers(request -> {
                        reach(Point.AVAILABLE);
                        return null;
                    })
                    .overloadedWorkers((partition, rank) -> {
                        reach(Point.OVERLOADED);
                        return false;
                    })
                    .prefillEstimator((batch, tokens, prefix) -> {
                        reach(Point.ESTIMATE);
                        return Duration.ofSeconds(1);
                    })
                    .loadSink(new LoadSink() {
                        @Override
                        public void publish(PartitionKey partition, WorkerRank rank, long blocks, long tokens) {
                            reach(Point.LOAD_SINK);
                        }
                    })
                    .leaseObserver(new LeaseObserver() {
                        @Override
                        public void admitted(BookingId booking) {
                            leased++;
                            reach(Point.ADMITTED);
                        }

                        @Override
                        public void completed(BookingId booking) {
                            leased--;
                            disordered |= leased < 0;
                        }
                    })
                    .build();
            Scheduler scheduler = (delay, work) -> {
                if (delay.equals(RECORD_TTL)) {
                    reach(Point.ROUTING_RECORD);
                }
                return time.schedule(delay, work);
            };
            core = SelectionCore.builder()
                    .config(SelectionConfig.builder()
                            .prefillLoadModel(PrefillLoadModel.AIC)
                            .predictedTtl(RECORD_TTL)
                            .sessionAffinityTtl(Duration.ofMinutes(1))
                            .build())
                    .host(host)
                    .ticker(time)
                    .clock(time.clock())
                    .scheduler(scheduler)
                    .random(new SeededRandom(3))
                    .observer(new SelectionObserver() {
                        @Override
                        public void onBooked(PartitionKey partition, long workerId, int dpRank) {
                            told++;
                            reach(Point.BOOKED);
                        }

                        @Override
                        public void onEnded(PartitionKey partition, long workerId, int dpRank, EndReason reason) {
                            told--;
                            disordered |= told < 0;
                        }

                        @Override
                        public void onSelected(
                                PartitionKey partition,
                                long workerId,
                                int dpRank,
                                long cachedTokens,
                                long islTokens,
                                long waitedNanos) {
                            reach(Point.SELECTED);
                        }

                        @Override
                        public void onTimed(PartitionKey p, LookupTimings lookups, long waited, long total) {
                            reach(Point.TIMED);
                        }
                    })
                    .build();
            core.upsert(worker(1).build());
        }

        private void reach(Point point) {
            if (point == at && !reached) {
                reached = true;
                stop.run();
            }
        }
    }

    @TestFactory
    Stream<DynamicTest> reserveStopped_anywhereInAnyWay_holdsNothing() {
        List<DynamicTest> tests = new ArrayList<>();
        for (Point point : Point.values()) {
            for (Stop how : Stop.values()) {
                for (boolean byHandle : new boolean[] {true, false}) {
                    tests.add(DynamicTest.dynamicTest(
                            point + " " + how + (byHandle ? " handle" : " id"), () -> stop(point, how, byHandle)));
                }
            }
        }
        return tests.stream();
    }

    private void stop(Point point, Stop how, boolean byHandle) {
        Scene scene = new Scene();
        SelectionCore core = scene.core;
        SelectRequest request =
                request(1, 64, "r").session(SessionContext.of("s")).build();
        CompletableFuture<?> stage =
                (byHandle ? core.selectAndReserve(request) : core.reserve(request)).toCompletableFuture();
        scene.at = point;
        scene.stop = () -> {
            switch (how) {
                case CANCEL -> stage.cancel(false);
                case FREE_BY_ID -> core.free("r");
                case CLOSE_CORE -> core.close();
                case REMOVE_WORKER -> core.remove(1);
                case COMPLETE -> stage.completeExceptionally(new IllegalStateException("given up"));
            }
        };
        scene.reach(Point.LOOKUP);
        scene.lookup.complete(List.of());
        assertThat(scene.reached).as("point reached").isTrue();
        assertThat(stage).isDone();
        if (!stage.isCompletedExceptionally()) {
            core.free("r");
        }
        assertThat(core.stats().reservations()).isZero();
        for (PartitionLoads partition : core.loads()) {
            assertThat(partition.loads())
                    .allSatisfy(load -> assertThat(load).isEqualTo(new RankLoad(load.worker(), 0, 0, 0)));
            assertThat(partition.pendingRequests()).isZero();
        }
        SelectionStats stats = core.stats();
        assertThat(stats.booked())
                .isEqualTo(stats.freed() + stats.rolledBack() + stats.expired() + stats.workerRemoved());
        assertThat(scene.told).as("bookings told as made and not as over").isZero();
        assertThat(scene.leased).as("leases admitted and not completed").isZero();
        assertThat(scene.disordered).as("an end told before its beginning").isFalse();
        if (how == Stop.CANCEL || how == Stop.COMPLETE) {
            assertThat(stats.freed()).as("released by an owner it never had").isZero();
        }
        if (how == Stop.CANCEL || how == Stop.FREE_BY_ID || how == Stop.COMPLETE) {
            Booking next = CoreFixture.now(core.selectAndReserve(request));
            next.close();
            assertThat(core.stats().reservations()).isZero();
        }
    }
}

package dev.tandemkv.adapters.zmq;

import static dev.tandemkv.adapters.zmq.Eventually.await;
import static dev.tandemkv.adapters.zmq.IngressFixture.PLAIN;
import static dev.tandemkv.adapters.zmq.IngressFixture.RANK;
import static dev.tandemkv.adapters.zmq.IngressFixture.chain;
import static dev.tandemkv.adapters.zmq.IngressFixture.following;
import static dev.tandemkv.adapters.zmq.IngressFixture.grow;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.FeedCounter;
import dev.tandemkv.testkit.engine.wire.FaultyLine.Fault;
import dev.tandemkv.testkit.engine.wire.PublisherConfig;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Over loopback TCP, every port taken from the system. Nothing here depends on how long anything takes, only on that it happens. */
class ZmqKvEventIngressTest {

    private final IngressFixture f = new IngressFixture();

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void attach_engineThatPublishedBefore_isKnownWithoutTraffic() {
        try (FakeEngine engine = FakeEngine.bound()) {
            engine.store(null, 1, 2, 3);
            f.ingress().reconcile(null, following(engine));

            await(() -> f.score(1, 2, 3) == 3);
            await(() -> f.exactness().equals(Exactness.EXACT));
        }
    }

    @Test
    void attach_liveBatches_areApplied() {
        try (FakeEngine engine = FakeEngine.bound()) {
            f.follow(engine);
            grow(engine, 200);

            await(() -> f.index.blocks(RANK) == engine.held().size()
                    && f.exactness().equals(Exactness.EXACT));
            assertThat(f.score(chain(200))).isEqualTo(200);
        }
    }

    @Test
    void s49_repliesOfThreeFrames_areReadToo() {
        try (FakeEngine engine = FakeEngine.bound(PublisherConfig.of(WireDialect.SGLANG_0_5_18, 0))) {
            engine.store(null, 1, 2);
            f.ingress().reconcile(null, following(engine));

            await(() -> f.score(1, 2) == 2);
        }
    }

    @Test
    void lostBatch_withReplay_isFilled() {
        try (FakeEngine engine = FakeEngine.bound()) {
            f.follow(engine);
            engine.store(null, 1);
            await(() -> f.score(1) == 1 && f.exactness().equals(Exactness.EXACT));
            engine.storeWith(Fault.DROP, 1L, 2);
            engine.store(2L, 3);

            await(() -> f.score(1, 2, 3) == 3);
            assertThat(f.count(FeedCounter.GAPS)).isPositive();
            await(() -> f.exactness().equals(Exactness.EXACT));
        }
    }

    @Test
    void lostBatch_withoutReplay_isVisible() {
        try (FakeEngine engine = FakeEngine.bound()) {
            f.ingress()
                    .reconcile(
                            null,
                            PLAIN.toBuilder()
                                    .kvEventsEndpoint(engine.endpoint())
                                    .build());
            await(engine::isHeard);
            engine.store(null, 1);
            engine.storeWith(Fault.DROP, 1L, 2);
            engine.store(1L, 3);

            await(() -> f.exactness() instanceof Exactness.Degraded);
            assertThat(f.count(FeedCounter.LOST_BATCHES)).isEqualTo(1);
            assertThat(f.score(1, 3)).isEqualTo(2);
        }
    }

    @Test
    void s48_garbage_isReplayed() {
        try (FakeEngine engine = FakeEngine.bound()) {
            f.follow(engine);
            engine.store(null, 1);
            await(() -> f.score(1) == 1 && f.exactness().equals(Exactness.EXACT));
            engine.storeWith(Fault.GARBAGE, 1L, 2);
            engine.store(2L, 3);

            await(() -> f.score(1, 2, 3) == 3);

            await(() -> f.exactness().equals(Exactness.EXACT));
        }
    }

    @Test
    void s47_engineThatStartsAnew_leavesNothingBehind() {
        try (FakeEngine engine = FakeEngine.bound()) {
            f.follow(engine);
            grow(engine, 20);
            await(() -> f.score(chain(20)) == 20 && f.isExact());
            engine.restart();
            engine.store(null, 1000);

            await(() -> f.index.blocks(RANK) == 1 && f.score(1000) == 1);
            assertThat(f.score(chain(20))).isZero();
            assertThat(f.count(FeedCounter.RESTARTS)).isEqualTo(1);
        }
    }

    @Test
    void silentReplaySocket_timesOutAndLiveBatchesGoOn() {
        ZmqSettings impatient = IngressFixture.shortWaits()
                .replaySilence(Duration.ofMillis(200))
                .build();
        try (FakeEngine engine = FakeEngine.bound();
                IngressFixture own = new IngressFixture(impatient)) {
            engine.muteReplay(true);
            own.follow(engine);
            long[] last = {0};
            await(() -> {
                engine.store(last[0] == 0 ? null : (Long) last[0], ++last[0]);
                return own.count(FeedCounter.RECOVERY_FAILURES) > 0 && own.score(1) == 1;
            });
        }
    }

    @Test
    void detach_ofAWorker_dropsItsRowsAndItsSockets() {
        try (FakeEngine engine = FakeEngine.bound()) {
            WorkerSpec spec = f.follow(engine);
            engine.store(null, 1);
            await(() -> f.score(1) == 1);

            f.ingress().detach(spec);
            engine.store(null, 2);

            await(() -> f.index.blocks(RANK) == 0);
            assertThat(f.ingress().listenerOf(RANK)).isEmpty();
            assertThat(f.feed().status(RANK)).isEmpty();
        }
    }

    @Test
    void update_inPlace_keepsTheStreamOfAnUnchangedRankAndReplacesAChangedOne() {
        try (FakeEngine first = FakeEngine.bound();
                FakeEngine second = FakeEngine.bound()) {
            WorkerSpec spec = f.follow(first);
            first.store(null, 1);
            await(() -> f.score(1) == 1);

            f.ingress().reconcile(spec, spec.toBuilder().maxNumBatchedTokens(9L).build());
            assertThat(f.score(1)).isEqualTo(1);

            second.store(null, 5);
            f.ingress().reconcile(spec, following(second));
            await(() -> f.score(5) == 1);
            assertThat(f.score(1)).isZero();
        }
    }

    @Test
    void update_otherIncarnation_dropsTheOldContent() {
        try (FakeEngine engine = FakeEngine.bound()) {
            WorkerSpec old = following(engine).toBuilder().incarnation("a").build();
            f.ingress().reconcile(null, old);
            await(engine::isHeard);
            engine.store(null, 1);
            await(() -> f.score(1) == 1);
            engine.restart();
            engine.store(null, 2);
            f.ingress().reconcile(old, old.toBuilder().incarnation("b").build());

            await(() -> f.score(2) == 1 && f.score(1) == 0);
        }
    }

    @Test
    void missingMetadata_namesWhatIsMissing() {
        WorkerSpec two = PLAIN.toBuilder()
                .dataParallelSize(2)
                .kvEventsEndpoints(Map.of(0, "tcp://127.0.0.1:5557"))
                .replayEndpoint("tcp://127.0.0.1:5558")
                .build();

        assertThat(f.ingress().missingMetadata(two))
                .containsExactly(
                        "kv-events endpoint missing for rank 1", "replay endpoint with data_parallel_size > 1");
        assertThat(f.ingress()
                        .missingMetadata(PLAIN.toBuilder()
                                .kvEventsEndpoint("tcp://127.0.0.1:5557")
                                .build()))
                .isEmpty();
        assertThat(f.ingress().listens()).isTrue();
    }

    @Test
    void endpoint_thatIsNone_isABadRequestAndLeavesNothing() {
        WorkerSpec wrong = PLAIN.toBuilder().kvEventsEndpoint("nonsense").build();

        assertThatThrownBy(() -> f.ingress().reconcile(null, wrong)).isInstanceOf(BadRequestException.class);
        assertThat(f.ingress().listenerOf(RANK)).isEmpty();
        assertThat(f.feed().status(RANK)).isEmpty();
    }

    @Test
    void close_twiceAndUseAfterwards_areSafe() {
        ZmqKvEventIngress closed = f.ingress();
        closed.close();
        closed.close();

        assertThatThrownBy(() -> closed.reconcile(
                        null,
                        PLAIN.toBuilder().kvEventsEndpoint("tcp://127.0.0.1:1").build()))
                .isInstanceOf(ShutdownException.class);
    }
}

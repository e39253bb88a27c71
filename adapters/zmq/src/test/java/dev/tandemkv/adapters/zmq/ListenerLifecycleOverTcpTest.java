package dev.tandemkv.adapters.zmq;

import static dev.tandemkv.adapters.zmq.Eventually.await;
import static dev.tandemkv.adapters.zmq.IngressFixture.PLAIN;
import static dev.tandemkv.adapters.zmq.IngressFixture.RANK;
import static dev.tandemkv.adapters.zmq.IngressFixture.chain;
import static dev.tandemkv.adapters.zmq.IngressFixture.following;
import static dev.tandemkv.adapters.zmq.IngressFixture.grow;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.FeedCounter;
import dev.tandemkv.indexer.event.ListenerLifecycle.State;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Connections that come and go, and listeners that are paused. */
class ListenerLifecycleOverTcpTest {

    private final IngressFixture f = new IngressFixture();

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void engineThatIsNotThereYet_isPendingAndNotExact_andActiveOnceItCame() {
        try (FakeEngine engine = FakeEngine.bound()) {
            engine.goAway();
            f.ingress().reconcile(null, following(engine));
            assertThat(f.state()).isEqualTo(State.PENDING);
            assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);

            engine.store(null, 1, 2);
            engine.comeBack();
            await(() -> f.state() == State.ACTIVE && f.isExact());
            assertThat(f.score(1, 2)).isEqualTo(2);
            assertThat(f.ingress().stateOf(7)).isEqualTo(State.ACTIVE);
        }
    }

    @Test
    void brokenConnection_isNotExact_andWhatWasMissedComesWithoutTraffic() {
        try (FakeEngine engine = FakeEngine.bound()) {
            f.follow(engine);
            grow(engine, 5);
            await(() -> f.score(chain(5)) == 5 && f.isExact());
            engine.goAway();
            await(() -> !f.isExact());
            engine.store(5L, 6);
            engine.remove(1);
            engine.comeBack();

            await(() -> f.isExact() && f.index.blocks(RANK) == 5);
            assertThat(f.score(1)).isZero();
            assertThat(f.count(FeedCounter.RESTARTS)).isZero();
            assertThat(f.ingress().listenerOf(RANK).orElseThrow().connections()).isGreaterThan(1);
        }
    }

    @Test
    void engineThatStartedAnewWhileNobodyHeard_isFoundOutThoughItsNumbersGoOn() {
        try (FakeEngine engine = FakeEngine.bound()) {
            f.follow(engine);
            grow(engine, 5);
            await(() -> f.score(chain(5)) == 5 && f.isExact());
            engine.goAway();
            await(() -> !f.isExact());
            engine.restart();
            for (long block = 101; block <= 110; block++) {
                engine.store(null, block);
            }
            engine.comeBack();

            await(() -> f.isExact() && f.index.blocks(RANK) == 10);
            assertThat(f.score(chain(5))).isZero();
            assertThat(f.score(110)).isEqualTo(1);
        }
    }

    @Test
    void pause_keepsWhatIsKnownAndIsNotExact_resumeFetchesWhatWasMissed() {
        try (FakeEngine engine = FakeEngine.bound()) {
            f.follow(engine);
            grow(engine, 3);
            await(() -> f.score(chain(3)) == 3 && f.state() == State.ACTIVE && f.isExact());
            f.ingress().pause(RANK);
            assertThat(f.state()).isEqualTo(State.PAUSED);
            assertThat(f.exactness()).isEqualTo(Exactness.RECOVERING);
            await(() -> !engine.isHeard());
            engine.store(3L, 4);
            assertThat(f.score(chain(4))).isEqualTo(3);

            f.ingress().resume(RANK);
            await(() -> f.score(chain(4)) == 4 && f.isExact() && f.state() == State.ACTIVE);
        }
    }

    @Test
    void pausedEngineWithoutReplay_lossShowsWithTheNextBatch() {
        try (FakeEngine engine = FakeEngine.bound()) {
            WorkerSpec live =
                    PLAIN.toBuilder().kvEventsEndpoint(engine.endpoint()).build();
            f.ingress().reconcile(null, live);
            await(engine::isHeard);
            engine.store(null, 1);
            await(() -> f.score(1) == 1);
            f.ingress().pause(RANK);
            await(() -> !engine.isHeard());
            engine.store(1L, 2);
            f.ingress().resume(RANK);
            await(engine::isHeard);
            engine.store(1L, 3);

            await(() -> f.exactness() instanceof Exactness.Degraded);
            assertThat(f.score(1, 3)).isEqualTo(2);
        }
    }

    @Test
    void source_whoseNumbersStartAtOne_isExactFromItsFirstBatch() {
        f.with(new EventSource(EngineFamily.SGLANG, EventSource.UNKNOWN.fullReports(), 1, null));
        try (FakeEngine engine = FakeEngine.bound(FakeEngine.config().withFirstSequence(1))) {
            f.follow(engine);
            engine.store(null, 1);
            await(() -> f.score(1) == 1 && f.isExact());
            assertThat(f.count(FeedCounter.LOST_BATCHES)).isZero();
        }
    }

    @Test
    void loopOfOthers_outlivesTheIngress_andItsEndIsSeen() {
        try (SocketLoop loop = SocketLoop.builder().start();
                FakeEngine engine = FakeEngine.bound()) {
            f.with(loop).follow(engine);
            await(() -> f.state() == State.ACTIVE);
            try (IngressFixture second = new IngressFixture().with(loop)) {
                second.follow(engine);
            }
            engine.store(null, 1);
            await(() -> f.score(1) == 1);

            loop.close();
            assertThat(f.state()).isEqualTo(State.FAILED);
            assertThat(f.ingress().listenerOf(RANK).orElseThrow().failure()).contains("loop");
        }
    }

    @Test
    void pause_ofARankThatIsNotFollowed_isNotFound() {
        assertThatThrownBy(() -> f.ingress().pause(WorkerRank.of(99))).isInstanceOf(NotFoundException.class);
        assertThatThrownBy(() -> f.ingress().resume(WorkerRank.of(99))).isInstanceOf(NotFoundException.class);
        assertThat(f.ingress().stateOf(99)).isEqualTo(State.PAUSED);
    }
}

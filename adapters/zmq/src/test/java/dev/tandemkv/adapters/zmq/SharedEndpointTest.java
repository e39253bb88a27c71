package dev.tandemkv.adapters.zmq;

import static dev.tandemkv.adapters.zmq.Eventually.await;
import static dev.tandemkv.adapters.zmq.IngressFixture.PLAIN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.event.ListenerLifecycle.State;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One bound socket to which engines connect. */
class SharedEndpointTest {

    private static final WorkerRank ONE = WorkerRank.of(1);
    private static final WorkerRank TEN = WorkerRank.of(10);

    private final IngressFixture f = new IngressFixture(
            IngressFixture.shortWaits().sharedEndpoint("tcp://127.0.0.1:*").build());

    @AfterEach
    void close() {
        f.close();
    }

    private String endpoint() {
        return f.ingress().sharedEndpoint().orElseThrow();
    }

    private static WorkerSpec worker(long id, FakeEngine engine) {
        return PLAIN.toBuilder()
                .workerId(id)
                .stableRoutingId("kv@pod-" + id + "@m")
                .replayEndpoint(engine.replayEndpoint())
                .build();
    }

    @Test
    void s38a_enginesAreToldApartByTheirWholeTopic() {
        try (FakeEngine one = FakeEngine.connectedTo(endpoint(), "kv@pod-1@m");
                FakeEngine ten = FakeEngine.connectedTo(endpoint(), "kv@pod-10@m");
                FakeEngine stranger = FakeEngine.connectedTo(endpoint(), "kv@pod-1")) {
            f.ingress().reconcile(null, worker(1, one));
            f.ingress().reconcile(null, worker(10, ten));
            await(() -> one.isHeard() && ten.isHeard() && stranger.isHeard());
            one.store(null, 1);
            ten.store(null, 10);
            stranger.store(null, 2);

            await(() ->
                    f.score(ONE, 1) == 1 && f.score(TEN, 10) == 1 && f.ingress().unknownTopics() == 1);
            assertThat(f.score(ONE, 10)).isZero();
            assertThat(f.score(TEN, 1)).isZero();
            await(() -> f.ingress().stateOf(1) == State.ACTIVE);
        }
    }

    @Test
    void topic_isOneRanks() {
        try (FakeEngine one = FakeEngine.connectedTo(endpoint(), "kv@pod-1@m")) {
            f.ingress().reconcile(null, worker(1, one));
            WorkerSpec other = worker(1, one).toBuilder().workerId(11).build();

            assertThatThrownBy(() -> f.ingress().reconcile(null, other)).isInstanceOf(ConflictException.class);
            assertThat(f.ingress().listenerOf(WorkerRank.of(11))).isEmpty();

            f.ingress().detach(worker(1, one));
            f.ingress().reconcile(null, other);
            assertThat(f.ingress().listenerOf(WorkerRank.of(11))).isPresent();
        }
    }

    @Test
    void pausedRank_leavesItsTopicAndCatchesUpWhenResumed() {
        try (FakeEngine one = FakeEngine.connectedTo(endpoint(), "kv@pod-1@m")) {
            f.ingress().reconcile(null, worker(1, one));
            await(one::isHeard);
            one.store(null, 1);
            // Nothing is asked of the engine any more whose answer could come after the pause.
            await(() -> f.score(ONE, 1) == 1 && f.isExact(ONE));
            f.ingress().pause(ONE);
            one.store(1L, 2);
            await(() -> f.ingress().unknownTopics() == 1);
            assertThat(f.score(ONE, 1, 2)).isEqualTo(1);

            f.ingress().resume(ONE);
            await(() -> f.score(ONE, 1, 2) == 2);
        }
    }

    @Test
    void engineThatSpokeBeforeItsRankWasAttached_isCaughtUp_amidAFloodOfOthers() {
        try (FakeEngine one = FakeEngine.connectedTo(endpoint(), "kv@pod-1@m");
                FakeEngine stranger = FakeEngine.connectedTo(endpoint(), "")) {
            await(() -> one.isHeard() && stranger.isHeard());
            one.store(null, 1);
            one.store(1L, 2);
            await(() -> f.ingress().unknownTopics() == 2);
            IngressFixture.grow(stranger, 3_000);
            f.ingress().reconcile(null, worker(1, one));
            one.store(2L, 3);
            await(() -> f.score(ONE, 1, 2, 3) == 3 && f.isExact(ONE));
            await(() -> f.ingress().unknownTopics() == 3_002);
        }
    }

    /** Whoever comes second is refused, and the refusal takes nothing from who was first. */
    @Test
    void refusedTopic_staysWithItsRank() {
        try (FakeEngine one = FakeEngine.connectedTo(endpoint(), "kv@pod-1@m")) {
            f.ingress().reconcile(null, worker(1, one));
            WorkerSpec other = worker(1, one).toBuilder().workerId(11).build();
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> f.ingress().reconcile(null, other)).isInstanceOf(ConflictException.class);
                f.ingress().detach(other);
            }
            await(one::isHeard);
            one.store(null, 1);
            await(() -> f.score(ONE, 1) == 1);
            assertThat(f.ingress().unknownTopics()).isZero();
        }
    }

    /** The rank of an engine that is gone is not exact, though nobody says anything on its topic any more; others are not concerned. */
    @Test
    void engineThatEnds_isNotExact_untilItIsHeardAgain() {
        try (FakeEngine one = FakeEngine.connectedTo(endpoint(), "kv@pod-1@m");
                FakeEngine ten = FakeEngine.connectedTo(endpoint(), "kv@pod-10@m")) {
            f.ingress().reconcile(null, worker(1, one));
            f.ingress().reconcile(null, worker(10, ten));
            await(() -> one.isHeard() && ten.isHeard());
            one.store(null, 1);
            ten.store(null, 10);
            await(() -> f.score(ONE, 1) == 1 && f.isExact(ONE) && f.score(TEN, 10) == 1 && f.isExact(TEN));
            // What the catch-up brought may still wait in the socket, and is what tells the connection.
            one.store(1L, 2);
            ten.store(10L, 11);
            await(() -> f.score(ONE, 1, 2) == 2 && f.isExact(ONE) && f.score(TEN, 10, 11) == 2 && f.isExact(TEN));

            one.goAway();
            await(() -> !f.isExact(ONE));
            assertThat(f.score(ONE, 1, 2)).isEqualTo(2);
            assertThat(f.isExact(TEN)).isTrue();

            one.replaceProcess(endpoint());
            await(one::isHeard);
            one.store(null, 5);
            await(() -> f.score(ONE, 5) == 1 && f.isExact(ONE));
            assertThat(f.score(ONE, 1)).isZero();
        }
    }

    @Test
    void successor_withNumbersThatGoOn_isKnownByItsConnection() {
        try (FakeEngine one = FakeEngine.connectedTo(endpoint(), "kv@pod-1@m")) {
            f.ingress().reconcile(null, worker(1, one));
            await(one::isHeard);
            one.store(null, 1);
            one.store(1L, 2);
            await(() -> f.score(ONE, 1, 2) == 2 && f.isExact(ONE));

            one.replaceProcess(endpoint());
            // What is published before the subscription has arrived reaches nobody.
            one.store(null, 10);
            one.store(10L, 11);
            await(one::isHeard);
            one.store(11L, 12);

            await(() -> f.score(ONE, 10, 11, 12) == 3 && f.isExact(ONE));
            assertThat(f.score(ONE, 1, 2)).isZero();
        }
    }
}

package dev.tandemkv.adapters.zmq;

import static dev.tandemkv.adapters.zmq.Eventually.await;
import static dev.tandemkv.adapters.zmq.IngressFixture.RANK;
import static dev.tandemkv.adapters.zmq.IngressFixture.chain;
import static dev.tandemkv.adapters.zmq.IngressFixture.following;
import static dev.tandemkv.adapters.zmq.IngressFixture.grow;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.tandemkv.indexer.dump.DumpRestore.Outcome;
import dev.tandemkv.indexer.event.FeedCounter;
import dev.tandemkv.indexer.event.ListenerLifecycle.State;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A gateway that starts asks others what the ranks hold. */
class PeerDumpTest {

    private final IngressFixture old = new IngressFixture();
    private final IngressFixture fresh = new IngressFixture();

    @AfterEach
    void close() {
        fresh.close();
        old.close();
    }

    private static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private static DumpPeers asking(URI... addresses) {
        return DumpPeers.of(List.of(addresses)).withDelay(Duration.ZERO).withTimeout(Duration.ofSeconds(25));
    }

    /** An engine whose ring no longer has its beginning, followed by a gateway that knows everything. */
    private FakeEngine engineWithAShortRing(int blocks) {
        FakeEngine engine = FakeEngine.bound(FakeEngine.config().withRingBatches(2));
        old.follow(engine);
        // From here on nothing is asked of a ring that is shorter than what is under way.
        await(() -> old.state() == State.ACTIVE && old.isExact());
        grow(engine, blocks);
        await(() -> old.score(chain(blocks)) == blocks && old.isExact());
        return engine;
    }

    @Test
    void ownForm_whatTheEngineCanNoLongerReplay_comesFromThePeer() throws IOException {
        try (FakeEngine engine = engineWithAShortRing(20);
                DumpEndpoint dumps = DumpEndpoint.start(anyPort(), old.ingress())) {
            fresh.with(asking(dumps.uri())).ingress().reconcile(null, following(engine));

            await(() -> fresh.score(chain(20)) == 20 && fresh.isExact() && fresh.state() == State.ACTIVE);
            assertThat(fresh.ingress().listenerOf(RANK).orElseThrow().restored())
                    .isEqualTo(Outcome.RESTORED);
            assertThat(fresh.count(FeedCounter.LOST_BATCHES)).isZero();
            await(engine::isHeard);
            engine.store(20L, 21);
            await(() -> fresh.score(chain(21)) == 21);
        }
    }

    @Test
    void peerThatJoinsLater_isAskedThen_andWhoIsFollowedMeanwhileWaitsForIt() throws IOException {
        try (FakeEngine engine = engineWithAShortRing(20);
                DumpEndpoint dumps = DumpEndpoint.start(anyPort(), old.ingress())) {
            fresh.ingress().recoverFrom(URI.create("http://127.0.0.1:1/dump"));
            fresh.ingress().recoverFrom(dumps.uri());
            fresh.ingress().reconcile(null, following(engine));

            await(() -> fresh.state() == State.ACTIVE && fresh.score(chain(20)) == 20 && fresh.isExact());
            assertThat(fresh.ingress().listenerOf(RANK).orElseThrow().restored())
                    .isEqualTo(Outcome.RESTORED);
        }
        assertThatThrownBy(() -> fresh.ingress().recoverFrom(URI.create("peer")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void dumpOfAnotherPublisher_isNotBelieved() throws IOException {
        try (FakeEngine engine = engineWithAShortRing(20);
                DumpEndpoint dumps = DumpEndpoint.start(anyPort(), old.ingress())) {
            old.ingress().pause(RANK);
            engine.restart();
            engine.store(null, 500);
            fresh.with(asking(dumps.uri())).ingress().reconcile(null, following(engine));

            await(() -> fresh.score(500) == 1 && fresh.isExact());
            assertThat(fresh.score(1)).isZero();
        }
    }

    @Test
    void s51_firstPeerThatFails_isPassedOver_andAnEmptyDumpIsAnAnswer() throws IOException {
        HttpServer broken = HttpServer.create(anyPort(), 0);
        broken.createContext("/dump", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(500, -1);
            }
        });
        broken.start();
        URI failing = URI.create("http://127.0.0.1:" + broken.getAddress().getPort() + "/dump");
        try (FakeEngine engine = FakeEngine.bound();
                DumpEndpoint dumps = DumpEndpoint.start(anyPort(), old.ingress())) {
            engine.store(null, 1);
            fresh.with(asking(failing, dumps.uri())).ingress().reconcile(null, following(engine));

            await(() -> fresh.score(1) == 1 && fresh.isExact());
            assertThat(fresh.ingress().listenerOf(RANK).orElseThrow().restored())
                    .isNull();
        } finally {
            broken.stop(0);
        }
    }

    @Test
    void peerThatNeverEnds_isGivenUp_andMessagesWaitMeanwhile() throws IOException {
        CountDownLatch released = new CountDownLatch(1);
        HttpServer stuck = HttpServer.create(anyPort(), 0);
        stuck.createContext("/dump", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write("{".getBytes(StandardCharsets.UTF_8));
            exchange.getResponseBody().flush();
            try {
                released.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            exchange.close();
        });
        stuck.start();
        URI address = URI.create("http://127.0.0.1:" + stuck.getAddress().getPort() + "/dump");
        try (FakeEngine engine = FakeEngine.bound()) {
            fresh.with(asking(address).withTimeout(Duration.ofMillis(300)));
            fresh.ingress().reconcile(null, following(engine));
            await(engine::isHeard);
            engine.store(null, 1);

            await(() -> fresh.feed().status(RANK).isPresent() && fresh.score(1) == 1 && fresh.isExact());
        } finally {
            released.countDown();
            stuck.stop(0);
        }
    }

    @Test
    void close_whileAPeerIsAsked_endsAtOnce() throws IOException {
        CountDownLatch released = new CountDownLatch(1);
        CountDownLatch asked = new CountDownLatch(1);
        HttpServer stuck = HttpServer.create(anyPort(), 0);
        stuck.createContext("/dump", exchange -> {
            asked.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            exchange.close();
        });
        stuck.start();
        URI address = URI.create("http://127.0.0.1:" + stuck.getAddress().getPort() + "/dump");
        try {
            fresh.with(asking(address).withTimeout(Duration.ofMinutes(5))).ingress();
            await(() -> asked.getCount() == 0);
            fresh.close();
            await(() -> Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().equals("tandemkv-dump-fetch")));
        } finally {
            released.countDown();
            stuck.stop(0);
        }
    }

    @Test
    void endpoint_answersInEitherForm_andNothingElse() throws IOException, InterruptedException {
        try (FakeEngine engine = engineWithAShortRing(3);
                DumpEndpoint dumps = DumpEndpoint.start(anyPort(), old.ingress())) {
            HttpResponse<String> peers = ask(HttpRequest.newBuilder(dumps.uri()).GET());
            assertThat(peers.statusCode()).isEqualTo(200);
            assertThat(peers.headers().firstValue("Content-Type")).contains("application/json");
            assertThat(peers.body()).startsWith("{\"default:default\":{\"block_size\":1,\"events\":[");

            HttpResponse<String> own = ask(HttpRequest.newBuilder(dumps.uri())
                    .header("Accept", DumpEndpoint.OWN_FORM)
                    .GET());
            assertThat(own.body()).startsWith("{\"format\":");

            assertThat(ask(HttpRequest.newBuilder(dumps.uri()).DELETE()).statusCode())
                    .isEqualTo(405);
            assertThat(ask(HttpRequest.newBuilder(URI.create(dumps.uri() + "/else"))
                                    .GET())
                            .statusCode())
                    .isEqualTo(404);
            assertThat(engine.held()).hasSize(3);
        }
    }

    private static HttpResponse<String> ask(HttpRequest.Builder request) throws IOException, InterruptedException {
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void addresses_thatAreNoHttp_areRefused() {
        assertThatThrownBy(() -> DumpPeers.of(List.of(URI.create("file:///tmp/dump"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("addresses");
    }
}

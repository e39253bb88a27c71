package dev.tandemkv.adapters.zmq;

import static dev.tandemkv.adapters.zmq.Eventually.await;
import static dev.tandemkv.adapters.zmq.IngressFixture.RANK;
import static dev.tandemkv.adapters.zmq.IngressFixture.following;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.tandemkv.indexer.dump.DumpRestore.Outcome;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Peers whose dumps lie, and clients of the dump that do not do their part. */
class HostilePeerTest {

    private final IngressFixture old = new IngressFixture();
    private final IngressFixture fresh = new IngressFixture();
    private final List<HttpServer> servers = new ArrayList<>();

    @AfterEach
    void close() {
        fresh.close();
        old.close();
        servers.forEach(server -> server.stop(0));
    }

    private static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private URI answering(String body) throws IOException {
        HttpServer server = HttpServer.create(anyPort(), 0);
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        server.createContext("/dump", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(200, bytes.length);
                exchange.getResponseBody().write(bytes);
            }
        });
        server.start();
        servers.add(server);
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/dump");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "null",
                "{\"default:default\":7}",
                "{\"default:default\":{\"block_size\":-1,\"events\":[]}}",
                "{\"nocolon\":{\"block_size\":1,\"events\":[]}}",
                "{\"\":{\"block_size\":1,\"events\":[]}}",
                "{\"default:default\":{\"block_size\":1,\"events\":[{}]}}",
                "{\"default:default\":{\"block_size\":1,\"events\":[{\"worker_id\":7,\"event\":{\"event_id\":0,\"data\":{\"stored\":{}}}}]}}",
                "{\"format\":\"tandemkv-dump\",\"version\":99}",
                "{\"format\":1e999}",
                "{\"default:default\":{\"block_size\":1,\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
            })
    void dumpThatIsNone_isPassedOver_andTheNextPeerIsAsked(String body) throws IOException {
        try (FakeEngine engine = FakeEngine.bound();
                DumpEndpoint dumps = DumpEndpoint.start(anyPort(), old.ingress())) {
            old.follow(engine);
            engine.store(null, 1);
            await(() -> old.score(1) == 1 && old.isExact());
            fresh.with(DumpPeers.of(List.of(answering(body), dumps.uri()))
                    .withDelay(Duration.ZERO)
                    .withTimeout(Duration.ofSeconds(25)));
            fresh.ingress().reconcile(null, following(engine));

            await(() -> fresh.feed().status(RANK).isPresent() && fresh.score(1) == 1 && fresh.isExact());
            assertThat(fresh.ingress().listenerOf(RANK).orElseThrow().restored())
                    .isEqualTo(Outcome.RESTORED);
        }
    }

    @Test
    void clientsThatSendHalfARequest_orReadNothing_doNotKeepOthersFromTheDump() throws IOException {
        try (FakeEngine engine = FakeEngine.bound();
                DumpEndpoint dumps = DumpEndpoint.start(anyPort(), old.ingress(), Duration.ofMillis(200))) {
            old.follow(engine);
            engine.store(null, 1);
            await(() -> old.score(1) == 1 && old.isExact());
            List<Socket> bad = new ArrayList<>();
            try {
                for (int i = 0; i < 40; i++) {
                    Socket socket = new Socket("127.0.0.1", dumps.uri().getPort());
                    bad.add(socket);
                    OutputStream out = socket.getOutputStream();
                    out.write("GET /dump HTTP/1.1\r\nHost: x".getBytes(StandardCharsets.US_ASCII));
                    out.flush();
                }
                // Who is cut off on a busy machine, because the patience is as short for all, asks again.
                fresh.with(DumpPeers.of(Collections.nCopies(100, dumps.uri()))
                        .withDelay(Duration.ZERO)
                        .withTimeout(Duration.ofSeconds(20)));
                fresh.ingress().reconcile(null, following(engine));
                await(() -> fresh.ingress().listenerOf(RANK).orElseThrow().restored() == Outcome.RESTORED);
            } finally {
                for (Socket socket : bad) {
                    socket.close();
                }
            }
        }
    }
}

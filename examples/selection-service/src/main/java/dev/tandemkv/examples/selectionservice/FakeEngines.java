package dev.tandemkv.examples.selectionservice;

import dev.tandemkv.adapters.zmq.EngineSockets;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.testkit.engine.http.EventSockets;
import dev.tandemkv.testkit.engine.http.HttpEngine;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.zeromq.ZMQException;

/** Engines to try a service on: HTTP, and KV events over ZeroMQ. Closing it ends all of them. */
final class FakeEngines implements AutoCloseable {

    private final Parts parts = new Parts();
    private final ExecutorService threads;
    private final EngineSockets sockets;

    private FakeEngines() {
        threads = Executors.newCachedThreadPool(Parts::daemon);
        parts.add(threads::shutdownNow);
        sockets = EngineSockets.start();
        parts.add(sockets);
    }

    static FakeEngines open() {
        return new FakeEngines();
    }

    /** @throws BadRequestException naming the option of {@code run engine} */
    static HttpEngine ofArguments(FakeEngines engines, List<String> arguments) throws IOException {
        List<String> rest = new ArrayList<>(arguments);
        HttpEngine.Builder engine = HttpEngine.builder(1)
                .port(Arguments.number(rest, "--port", 8000, 0, 65_535))
                .blockSize(Arguments.number(rest, "--block-size", HttpEngine.BLOCK_SIZE, 1, 1_024));
        int events = Arguments.number(rest, "--kv-events-port", 5557, 0, 65_535);
        int replays = Arguments.number(rest, "--replay-port", 5558, 0, 65_535);
        Arguments.requireNone(rest);
        return engines.start(engine, events, replays);
    }

    /**
     * Starts one.
     *
     * @param eventsPort where it publishes, 0 for any free port
     * @param replayPort where it answers replays, likewise
     */
    HttpEngine start(HttpEngine.Builder description, int eventsPort, int replayPort) throws IOException {
        HttpEngine engine = description.start(
                answers -> bound(answers, endpoint(eventsPort), endpoint(replayPort)), threads, Clock.systemUTC());
        parts.add(engine);
        return engine;
    }

    private static String endpoint(int port) {
        return "tcp://127.0.0.1:" + (port == 0 ? "*" : Integer.toString(port));
    }

    private EventSockets bound(EventSockets.Responder answers, String events, String replays) {
        EngineSockets.Publisher publisher;
        try {
            publisher = sockets.bind(events, replays, answers::answer);
        } catch (ZMQException e) {
            throw new BadRequestException("--kv-events-port", events + ", " + replays, "ports that are free");
        }
        return new EventSockets(
                publisher.endpoint(),
                publisher.replayEndpoint(),
                publisher::publish,
                sockets::execute,
                publisher::close);
    }

    @Override
    public void close() {
        parts.close();
    }
}

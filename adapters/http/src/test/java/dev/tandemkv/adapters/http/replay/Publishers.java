package dev.tandemkv.adapters.http.replay;

import dev.tandemkv.adapters.enginewire.neutral.ListenerStats;
import dev.tandemkv.adapters.zmq.EngineSockets;
import dev.tandemkv.adapters.zmq.EventSource;
import dev.tandemkv.adapters.zmq.ListenerStatus;
import dev.tandemkv.adapters.zmq.ZmqKvEventIngress;
import dev.tandemkv.adapters.zmq.ZmqSettings;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * Engines' publishers over real sockets, each under a name that stands for its endpoint: recorded endpoints have ports that may be taken here.
 * What is published has been applied by every follower when {@link #publish} returns.
 */
public final class Publishers implements AutoCloseable {

    /** Bytes that begin no topic of any conversation. */
    private static final String NOBODYS = "\u0001nobody";

    private static final String ANY = "tcp://127.0.0.1:*";

    private final EngineSockets sockets = EngineSockets.start();
    private final Map<String, Bound> byName = new LinkedHashMap<>();

    private record Bound(EngineSockets.Publisher publisher, EventSource source) {}

    /** A follower that notices soon what happens to its connections. */
    public static ZmqSettings quick() {
        return ZmqSettings.builder()
                .handshake(Duration.ofMillis(200))
                .reconnect(Duration.ofMillis(10), Duration.ofMillis(100))
                .build();
    }

    /** Binds a publisher; a name that is bound already keeps its socket. */
    public Publishers bind(String name, EventSource source) {
        byName.computeIfAbsent(name, n -> new Bound(sockets.bind(ANY, null, (request, reply) -> {}), source));
        return this;
    }

    /** Where the publisher really is. */
    public String endpoint(String name) {
        return byName.get(name).publisher().endpoint();
    }

    /** What is known of a worker's publisher, by where it is. */
    public EventSource source(WorkerSpec spec, int rank) {
        String endpoint = spec.kvEventsEndpointOf(rank);
        return byName.values().stream()
                .filter(bound -> bound.publisher().endpoint().equals(endpoint))
                .map(Bound::source)
                .findFirst()
                .orElse(EventSource.UNKNOWN.withTopic(""));
    }

    /** A text with the endpoints of this run instead of the names. */
    public String real(String text) {
        String real = text;
        for (Map.Entry<String, Bound> each : byName.entrySet()) {
            real = real.replace(each.getKey(), each.getValue().publisher().endpoint());
        }
        return real;
    }

    /** A text with the names instead of the endpoints of this run. */
    public String recorded(String text) {
        String recorded = text;
        for (Map.Entry<String, Bound> each : byName.entrySet()) {
            recorded = recorded.replace(each.getValue().publisher().endpoint(), each.getKey());
        }
        return recorded;
    }

    /**
     * Sends messages and waits until every follower has taken them. A connection that is made is not one that is read, so each follower is
     * tried first with what it counts and drops; a foreign topic behind the messages tells that they were taken.
     */
    public void publish(
            String name, List<List<byte[]>> messages, List<WorkerRecord> workers, ZmqKvEventIngress ingress) {
        Bound bound = byName.get(name);
        String prefix = bound.source().topic() == null ? "" : bound.source().topic();
        byte[] foreign = (prefix + NOBODYS).getBytes(StandardCharsets.UTF_8);
        List<WorkerRank> followers = followers(bound.publisher().endpoint(), workers);
        Function<ToLongFunction<ListenerStats>, Map<WorkerRank, Long>> counts = figure -> {
            Map<WorkerRank, Long> each = new HashMap<>();
            followers.forEach(rank -> each.put(rank, figure.applyAsLong(statsOf(ingress, rank))));
            return each;
        };
        Map<WorkerRank, Long> anomalies = counts.apply(ListenerStats::frameAnomalies);
        await("a follower is heard", () -> {
            boolean heard =
                    followers.stream().allMatch(rank -> statsOf(ingress, rank).frameAnomalies() > anomalies.get(rank));
            if (!heard) {
                bound.publisher().publish(List.of(foreign));
            }
            return heard;
        });
        Map<WorkerRank, Long> before = counts.apply(ListenerStats::foreignTopics);
        messages.forEach(bound.publisher()::publish);
        bound.publisher().publish(List.of(foreign, new byte[Long.BYTES], new byte[0]));
        await(
                "what was published is taken",
                () -> followers.stream().allMatch(rank -> statsOf(ingress, rank).foreignTopics() > before.get(rank)));
    }

    private static ListenerStats statsOf(ZmqKvEventIngress ingress, WorkerRank rank) {
        return ingress.listenerOf(rank).map(ListenerStatus::messages).orElseThrow();
    }

    private static List<WorkerRank> followers(String endpoint, List<WorkerRecord> workers) {
        List<WorkerRank> followers = new ArrayList<>();
        for (WorkerRecord worker : workers) {
            WorkerSpec spec = worker.spec();
            for (int rank = spec.startRank(); worker.isSchedulable() && spec.hasRank(rank); rank++) {
                if (endpoint.equals(spec.kvEventsEndpointOf(rank))) {
                    followers.add(new WorkerRank(spec.workerId(), rank));
                }
            }
        }
        return followers;
    }

    /** Waits in real time: the other side of a socket takes some. */
    private static void await(String what, BooleanSupplier condition) {
        for (int i = 0; i < 10_000; i++) {
            if (condition.getAsBoolean()) {
                return;
            }
            LockSupport.parkNanos(1_000_000);
        }
        throw new AssertionError("in vain: until " + what);
    }

    @Override
    public void close() {
        sockets.close();
    }
}

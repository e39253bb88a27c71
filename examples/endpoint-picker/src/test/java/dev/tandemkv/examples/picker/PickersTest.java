package dev.tandemkv.examples.picker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.extproc.PickerObserver;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.source.CatalogSnapshot;
import dev.tandemkv.catalog.source.WorkerCatalogSource;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.host.ReplicaPeers;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Pickers that know of each other, and one that ends while answers are under way; over real sockets. */
class PickersTest {

    private static final Map<String, String> NO_EVENTS = Map.of("DYN_ROUTER_USE_KV_EVENTS", "false");

    private static final String OTHERS = "tcp://10.0.0.8:1";

    @TempDir
    Path directory;

    private Options options(String... more) throws Exception {
        Path workers = Files.writeString(
                directory.resolve("workers.json"),
                "{\"workers\": [{\"worker_id\": 1, \"endpoint\": \"10.0.0.1:8000\"}]}");
        Options options = new Options();
        String[] common = {
            "--port", "0",
            "--workers-file", workers.toString(),
            "--model-name", "m",
            "--kv-cache-block-size", "16",
            "--tokenizer-service-url", "http://127.0.0.1:1"
        };
        String[] all = Stream.concat(Arrays.stream(common), Arrays.stream(more)).toArray(String[]::new);
        Environment.under(Map.of(), new CommandLine(options)).parseArgs(all);
        return options;
    }

    private static void await(String what, BooleanSupplier condition) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < 5_000; i++) {
            if (condition.getAsBoolean()) {
                return;
            }
            assertThat(never.await(10, TimeUnit.MILLISECONDS)).isFalse();
        }
        throw new AssertionError("in vain: until " + what);
    }

    /** A picker that tells others, on a port that was free: should somebody else have taken it meanwhile, on another one. */
    private record Peer(Assembly picker, int port) implements AutoCloseable {

        static Peer start(PickersTest test) throws Exception {
            for (int left = 10; ; left--) {
                int port;
                try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                    port = socket.getLocalPort();
                }
                try {
                    Options options = test.options(
                            "--peer-service=localhost", "--pod-ip=127.0.0.1", "--replica-sync-port=" + port);
                    return new Peer(Assembly.start(options, NO_EVENTS, PickerObserver.none()), port);
                } catch (BadRequestException taken) {
                    assertThat(taken.field()).isEqualTo("--replica-sync-port");
                    assertThat(left).isPositive();
                }
            }
        }

        @Override
        public void close() {
            picker.close();
        }
    }

    private static long active(Assembly picker) {
        return picker.pool().loads(picker.partition()).stream()
                .flatMap(partition -> partition.loads().stream())
                .mapToLong(load -> load.activeRequests())
                .sum();
    }

    @Test
    void peerService_pickersOfOneName_seeEachOthersBookings() throws Exception {
        try (Peer first = Peer.start(this);
                Peer second = Peer.start(this)) {
            Assembly here = first.picker();
            Assembly there = second.picker();
            // Both are behind one address here, so that the name alone cannot tell their ports apart.
            there.pool().registerPeer("tcp://127.0.0.1:" + first.port());
            await("both know their worker", () -> here.isReady() && there.isReady());
            Booking booking = here.pool()
                    .selectAndReserve(SelectRequest.builder(Prompt.ofTokens(1, 2, 3))
                            .partition(here.partition())
                            .build())
                    .toCompletableFuture()
                    .join();
            await("the other picker counts the booking", () -> active(there) == 1);
            booking.close();
            await("it counts it no more", () -> active(there) == 0);
        }
    }

    /** Memberships that a test gives. */
    private static final class Given implements WorkerCatalogSource {
        private final Queue<CompletableFuture<Optional<CatalogSnapshot>>> asked = new ArrayDeque<>();
        private boolean closed;

        @Override
        public CompletionStage<Optional<CatalogSnapshot>> nextSnapshot() {
            asked.add(new CompletableFuture<>());
            return asked.element();
        }

        void tell(String... addresses) {
            List<WorkerSpec> workers = IntStream.range(0, addresses.length)
                    .mapToObj(i -> WorkerSpec.builder(i)
                            .endpoint("http://" + addresses[i])
                            .build())
                    .toList();
            asked.remove().complete(Optional.of(new CatalogSnapshot(workers)));
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private static final class Listed implements ReplicaPeers {
        private final Set<String> endpoints = new TreeSet<>();

        @Override
        public boolean register(String endpoint) {
            return endpoints.add(endpoint);
        }

        @Override
        public boolean deregister(String endpoint) {
            return endpoints.remove(endpoint);
        }

        @Override
        public List<String> endpoints() {
            return List.copyOf(endpoints);
        }
    }

    @Test
    void peerService_addressesThatComeAndGo_areFollowed_withoutTheOwn() {
        Given source = new Given();
        Listed peers = new Listed();
        peers.register(OTHERS);
        try (PeerService service = PeerService.follow(source, peers, "10.0.0.1:9092")) {
            source.tell("10.0.0.1:9092", "10.0.0.2:9092", "[fd00::3]:9092");
            assertThat(peers.endpoints()).containsExactly("tcp://10.0.0.2:9092", OTHERS, "tcp://[fd00::3]:9092");
            source.tell("10.0.0.4:9092", "10.0.0.2:9092");
            assertThat(peers.endpoints()).containsExactly("tcp://10.0.0.2:9092", "tcp://10.0.0.4:9092", OTHERS);
            source.tell("10.0.0.1:9092");
            assertThat(peers.endpoints()).as("what others registered stays").containsExactly(OTHERS);
            assertThat(service).isNotNull();
        }
        assertThat(source.closed).isTrue();
        source.tell("10.0.0.9:9092");
        assertThat(peers.endpoints()).as("nothing after the end").containsExactly(OTHERS);
    }

    @Test
    void close_withAnAnswerUnderWay_letsItEnd_andLeavesNoBooking() throws Exception {
        Assembly picker = Assembly.start(options("--drain-timeout-secs", "3600"), NO_EVENTS, PickerObserver.none());
        await("the worker is known", picker::isReady);
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", picker.port())
                .usePlaintext()
                .build();
        try {
            PickerStream stream = PickerStream.open(channel);
            ProcessingResponse decision = stream.request(
                    Map.of(":method", "POST", ":path", "/v1/completions"),
                    "{\"prompt\": [1, 2, 3]}".getBytes(StandardCharsets.UTF_8));
            assertThat(decision.hasRequestHeaders()).isTrue();
            stream.answerHeaders(200);
            CompletableFuture<Void> ended = CompletableFuture.runAsync(picker::close);
            await("new streams are refused", () -> {
                try (PickerStream late = PickerStream.open(channel)) {
                    late.request(Map.of(":method", "GET", ":path", "/"), new byte[0]);
                    return false;
                } catch (Exception refused) {
                    return true;
                }
            });
            assertThat(ended).isNotDone();
            assertThat(active(picker)).isEqualTo(1);

            stream.answerBody("one".getBytes(StandardCharsets.UTF_8), false);
            stream.answerBody(new byte[0], true);
            stream.close();

            ended.get(60, TimeUnit.SECONDS);
            assertThat(active(picker)).isZero();
        } finally {
            channel.shutdownNow();
            picker.close();
        }
    }

    @Test
    void close_withAnAnswerThatDoesNotEnd_breaksItOffInTheEnd_andLeavesNoBooking() throws Exception {
        Assembly picker = Assembly.start(options("--drain-timeout-secs", "0"), NO_EVENTS, PickerObserver.none());
        await("the worker is known", picker::isReady);
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", picker.port())
                .usePlaintext()
                .build();
        try (PickerStream stream = PickerStream.open(channel)) {
            stream.request(
                    Map.of(":method", "POST", ":path", "/v1/completions"),
                    "{\"prompt\": [1, 2, 3]}".getBytes(StandardCharsets.UTF_8));
            assertThat(active(picker)).isEqualTo(1);

            picker.close();

            assertThat(active(picker)).isZero();
        } finally {
            channel.shutdownNow();
            picker.close();
        }
    }

    /** Keeps the thread that made a decision, until it is let go. */
    private static final class Busy implements PickerObserver {
        private final CountDownLatch picked = new CountDownLatch(1);
        private final CountDownLatch letGo = new CountDownLatch(1);

        @Override
        public void onPicked(WorkerRank destination, @Nullable WorkerRank prefill, Duration took) {
            picked.countDown();
            try {
                assertThat(letGo.await(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Test
    void close_withAThreadAtWorkOnAStream_waitsUntilItsBookingIsReleased() throws Exception {
        Busy observer = new Busy();
        Assembly picker = Assembly.start(options("--drain-timeout-secs", "0"), NO_EVENTS, observer);
        await("the worker is known", picker::isReady);
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", picker.port())
                .usePlaintext()
                .build();
        Thread closing = new Thread(picker::close, "closing");
        try (PickerStream stream = PickerStream.open(channel)) {
            stream.request(
                    Map.of(":method", "POST", ":path", "/v1/completions"),
                    "{\"prompt\": [1, 2, 3]}".getBytes(StandardCharsets.UTF_8));
            assertThat(observer.picked.await(60, TimeUnit.SECONDS)).isTrue();
            closing.start();
            await("it waits, or has not waited", () -> isWaiting(closing) || !closing.isAlive());
            assertThat(active(picker)).isEqualTo(1);
            assertThat(closing.isAlive()).isTrue();

            observer.letGo.countDown();

            closing.join(60_000);
            assertThat(closing.isAlive()).isFalse();
            assertThat(active(picker)).isZero();
        } finally {
            observer.letGo.countDown();
            channel.shutdownNow();
            picker.close();
        }
    }

    @Test
    void settingThatDoesNothingHere_isTold() throws Exception {
        StringWriter told = new StringWriter();
        Map<String, String> waits = Map.of("DYN_ROUTER_USE_KV_EVENTS", "false", "DYN_ROUTER_MIN_INITIAL_WORKERS", "2");
        try (Assembly picker = EndpointPicker.start(new PrintWriter(told, true), waits, options())) {
            assertThat(picker.port()).isPositive();
            assertThat(told.toString().lines())
                    .singleElement()
                    .asString()
                    .startsWith("without effect: min_initial_workers: ");
        }
        try (Assembly plain = EndpointPicker.start(new PrintWriter(told, true), NO_EVENTS, options())) {
            assertThat(plain.withoutEffect()).isEmpty();
            assertThat(told.toString().lines()).hasSize(1);
        }
    }

    private static boolean isWaiting(Thread thread) {
        return thread.getState() == Thread.State.TIMED_WAITING;
    }
}

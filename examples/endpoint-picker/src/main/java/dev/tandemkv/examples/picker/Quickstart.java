package dev.tandemkv.examples.picker;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tandemkv.adapters.extproc.PickerObserver;
import dev.tandemkv.adapters.zmq.EngineSockets;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.testkit.engine.http.EventSockets;
import dev.tandemkv.testkit.engine.http.HttpEngine;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Two fake engines, a picker, and Envoy where there is one: sends the same prompt twice and tells what happened. */
@Command(
        name = "quickstart",
        sortOptions = false,
        usageHelpWidth = 120,
        description = {
            "",
            "Starts two fake engines, a picker and a gateway on free ports of this machine, sends the same prompt twice,",
            "and prints what happened.",
            ""
        })
final class Quickstart implements Callable<Integer> {

    private static final String PATH = "/v1/completions";
    private static final String PROMPT =
            String.join(" ", IntStream.range(0, 100).mapToObj(i -> "word" + i).toList());
    private static final int BLOCKS = 100 / HttpEngine.BLOCK_SIZE;
    private static final String ANY = "tcp://127.0.0.1:*";
    private static final long POLL_MILLIS = 10;
    private static final int POLLS = 3_000;

    @Option(
            names = "--envoy",
            paramLabel = "FILE",
            description = {
                "The Envoy to start. TANDEMKV_ENVOY; default: envoy on the path, and where there is none this",
                "process stands in for it."
            })
    private @Nullable Path envoy;

    @Option(names = "--without-envoy", description = "Does not look for one.")
    private boolean withoutEnvoy;

    @Option(names = "--stay", description = "Goes on until Ctrl-C, for requests of your own.")
    private boolean stay;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this text.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean help;

    private final Map<String, String> environment;
    private final PrintWriter out;
    private final Ticker ticker = Ticker.system();
    /** What the picker says, one line for each event. */
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    /** What has been started, last first. Guarded by itself: a signal may end it at any time. */
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    private boolean closed;

    Quickstart(Map<String, String> environment, PrintWriter out) {
        this.environment = environment;
        this.out = out;
    }

    @Override
    public Integer call() throws Exception {
        Thread onSignal = new Thread(this::close);
        Runtime.getRuntime().addShutdownHook(onSignal);
        try {
            run();
        } finally {
            close();
            forget(onSignal);
        }
        return 0;
    }

    private static void forget(Thread onSignal) {
        try {
            Runtime.getRuntime().removeShutdownHook(onSignal);
        } catch (IllegalStateException e) {
            // It is what closed.
        }
    }

    private void run() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool(work -> {
            Thread thread = new Thread(work, "quickstart");
            thread.setDaemon(true);
            return thread;
        });
        keep(threads::shutdownNow);
        Path directory = Files.createTempDirectory("endpoint-picker");
        keep(() -> delete(directory));
        List<HttpEngine> engines = engines(threads);
        Assembly picker = picker(engines, directory);
        Gateway gateway = gateway(picker, directory, threads);
        for (HttpEngine engine : engines) {
            out.println("engine " + engine.number() + "   http://" + engine.address() + ", KV events "
                    + engine.worker().get("kv_events_endpoint"));
        }
        out.println("picker     127.0.0.1:" + picker.port() + " (gRPC)");
        out.println("gateway    " + gateway.address() + " (" + gateway.name() + ")");
        out.println();
        await("both engines are known", () -> picker.pool().ready().schedulableWorkers() == 2);
        request("the first time", gateway, picker);
        await("the engine's KV events are in the index", () -> cachedTokens(picker) == BLOCKS * HttpEngine.BLOCK_SIZE);
        out.println("its engine announced " + BLOCKS + " blocks of " + HttpEngine.BLOCK_SIZE + " tokens");
        out.println();
        request("the second time", gateway, picker);
        if (stay) {
            out.println();
            out.println(
                    "curl -N " + gateway.address() + PATH
                            + " -H 'content-type: application/json' -d '{\"model\": \"demo\", \"stream\": true, \"prompt\": \"one two three\"}'");
            new CountDownLatch(1).await();
        }
    }

    private List<HttpEngine> engines(ExecutorService threads) throws IOException {
        EngineSockets sockets = EngineSockets.start();
        keep(sockets);
        HttpEngine first = engine(1, sockets, threads);
        HttpEngine second = engine(2, sockets, threads);
        return List.of(first, second);
    }

    private HttpEngine engine(int number, EngineSockets sockets, ExecutorService threads) throws IOException {
        HttpEngine engine =
                HttpEngine.builder(number).start(answers -> bound(sockets, answers), threads, Clock.systemUTC());
        keep(engine);
        return engine;
    }

    private static EventSockets bound(EngineSockets sockets, EventSockets.Responder answers) {
        EngineSockets.Publisher publisher = sockets.bind(ANY, ANY, answers::answer);
        return new EventSockets(
                publisher.endpoint(),
                publisher.replayEndpoint(),
                publisher::publish,
                sockets::execute,
                publisher::close);
    }

    private Assembly picker(List<HttpEngine> engines, Path directory) throws IOException {
        Path workers = Files.writeString(
                directory.resolve("workers.json"),
                new ObjectMapper()
                        .writeValueAsString(Map.of(
                                "workers",
                                engines.stream().map(HttpEngine::worker).toList())));
        Options options = new Options();
        Environment.under(Map.of(), new CommandLine(options))
                .parseArgs(
                        "--port=0",
                        "--workers-file=" + workers,
                        "--model-name=demo",
                        "--kv-cache-block-size=" + HttpEngine.BLOCK_SIZE,
                        "--tokenizer-service-url=" + engines.get(0).uri());
        Assembly picker = Assembly.start(options, Map.of(), new Events());
        keep(picker);
        return picker;
    }

    private Gateway gateway(Assembly picker, Path directory, ExecutorService threads)
            throws IOException, InterruptedException {
        Optional<Path> binary = withoutEnvoy ? Optional.empty() : Envoy.find(envoy, environment.get("PATH"));
        if (envoy != null && !withoutEnvoy && binary.isEmpty()) {
            throw new BadRequestException("--envoy", envoy, "an executable file");
        }
        if (binary.isEmpty()) {
            return keep(new StandIn(picker.port(), threads));
        }
        Envoy started = keep(Envoy.start(binary.get(), picker.port(), directory));
        started.awaitListening();
        return started;
    }

    private void request(String when, Gateway gateway, Assembly picker) throws IOException, InterruptedException {
        events.clear();
        out.println("POST " + PATH + " " + when + ", " + HttpEngine.tokens(PROMPT).length + " tokens, of which "
                + cachedTokens(picker) + " are known to be cached");
        long started = ticker.read();
        HttpRequest request = HttpRequest.newBuilder(gateway.address().resolve(PATH))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"model\": \"demo\", \"stream\": true, \"prompt\": \"" + PROMPT + "\"}"))
                .build();
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpResponse<Stream<String>> answer = client.send(request, HttpResponse.BodyHandlers.ofLines());
        out.println("  status " + answer.statusCode());
        try (Stream<String> lines = answer.body()) {
            lines.filter(line -> !line.isEmpty()).forEach(line -> out.println("  " + line));
        }
        out.println("  over after " + Duration.ofNanos(ticker.read() - started).toMillis() + " ms; the picker says:");
        await("the booking is released", () -> events.contains(Events.OVER));
        events.forEach(event -> out.println("    " + event));
        out.println("    bookings left: " + bookings(picker));
    }

    /** How many tokens of the prompt the best worker holds, as the index knows. */
    private static long cachedTokens(Assembly picker) {
        CompletableFuture<Selection> best = picker.pool()
                .select(SelectRequest.builder(Prompt.ofTokens(HttpEngine.tokens(PROMPT)))
                        .partition(picker.partition())
                        .build())
                .toCompletableFuture();
        return best.join().overlap().longestMatched();
    }

    private static long bookings(Assembly picker) {
        return picker.pool().loads(picker.partition()).stream()
                .flatMap(partition -> partition.loads().stream())
                .mapToLong(load -> load.activeRequests())
                .sum();
    }

    private static void await(String what, BooleanSupplier condition) throws IOException, InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < POLLS; i++) {
            if (condition.getAsBoolean() || never.await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
                return;
            }
        }
        throw new IOException("in vain: until " + what);
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
    }

    private <T extends AutoCloseable> T keep(T part) {
        synchronized (parts) {
            if (!closed) {
                parts.push(part);
                return part;
            }
        }
        close(part);
        throw new IllegalStateException("told to end");
    }

    private void close() {
        synchronized (parts) {
            closed = true;
            while (!parts.isEmpty()) {
                close(parts.pop());
            }
        }
    }

    private void close(AutoCloseable part) {
        try {
            part.close();
        } catch (Exception e) {
            out.println("while closing: " + e);
        }
    }

    private final class Events implements PickerObserver {
        private static final String OVER = "the exchange is over, what it held is released";

        @Override
        public void onPicked(WorkerRank destination, @Nullable WorkerRank prefill, Duration took) {
            events.add("worker " + Long.toUnsignedString(destination.workerId()) + " picked, " + took.toMillis()
                    + " ms after the request was complete");
        }

        @Override
        public void onRefused(int status) {
            events.add("refused with " + status);
        }

        @Override
        public void onPrefillComplete(WorkerRank destination) {
            events.add("the first bytes of the answer passed: prefill is over");
        }

        @Override
        public void onEnded() {
            events.add(OVER);
        }
    }
}

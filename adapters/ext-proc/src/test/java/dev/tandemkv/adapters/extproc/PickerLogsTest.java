package dev.tandemkv.adapters.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.tandemkv.adapters.tokenizer.EngineTokenizer;
import dev.tandemkv.adapters.tokenizer.TokenizedPrompt;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.time.VirtualTime;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Every logger of the process writes everything, through exchanges that go well and through all that fail: neither prompts nor token ids nor
 * sessions are in it. The module's tests log to a file, whose name the build sets.
 */
class PickerLogsTest {

    private static final String SECRET = "secretword";
    private static final int TOKEN = 1_987_654_321;
    private static final String SESSION = "sessionofsomebody";
    private static final Map<String, String> POST = Map.of(
            ":method", "POST", "x-dynamo-session-id", SESSION, "x-tenant-id", "tenant-" + SECRET, "x-test", SECRET);
    private static final String COMPLETION = "{\"model\":\"m\",\"prompt\":\"" + SECRET.repeat(4) + "\"}";
    private static final String CHAT =
            "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"" + SECRET + "\"}]}";

    private final Path file = Path.of(System.getProperty("org.slf4j.simpleLogger.logFile"));
    private final Logger root = Logger.getLogger("");
    private final Level before = java.util.Objects.requireNonNull(root.getLevel());
    private final List<String> records = new CopyOnWriteArrayList<>();
    private final Handler recorder = new Handler() {
        @Override
        public void publish(LogRecord entry) {
            records.add(new SimpleFormatter().format(entry));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private long from;

    @BeforeEach
    void recordEverything() throws IOException {
        from = Files.exists(file) ? Files.size(file) : 0;
        recorder.setLevel(Level.ALL);
        root.addHandler(recorder);
        root.setLevel(Level.ALL);
    }

    @AfterEach
    void stop() {
        root.removeHandler(recorder);
        root.setLevel(before);
    }

    private String logged() throws IOException {
        byte[] all = Files.readAllBytes(file);
        return new String(all, (int) from, all.length - (int) from, StandardCharsets.UTF_8)
                + String.join("\n", records);
    }

    private static void exchange(Fixture fixture, String... bodies) {
        for (String body : bodies) {
            Proxy proxy = fixture.open().headers(POST).body(body);
            proxy.answerHeaders(io.envoyproxy.envoy.config.core.v3.Metadata.getDefaultInstance());
            proxy.answerBody("data: " + SECRET, false).answerBody("", true);
            proxy.reset();
        }
    }

    private static RuntimeException quoting() {
        return new IllegalStateException(
                "cannot do '" + SECRET + "' " + TOKEN, new IOException(SESSION + ' ' + SECRET));
    }

    private void assertQuiet(String expected) throws IOException {
        String logged = logged();
        assertThat(logged).as("what was logged at all").contains(expected);
        assertThat(logged).doesNotContainIgnoringCase(SECRET).doesNotContain(Integer.toString(TOKEN), SESSION);
    }

    @Test
    void exchangesThatGoWell_logNoContent() throws IOException {
        try (Fixture fixture = Fixture.aggregated(PickerSettings.DEFAULT)) {
            fixture.tokenizing = CompletableFuture.completedFuture(TokenizedPrompt.of(TOKEN, TOKEN, TOKEN));
            exchange(fixture, COMPLETION, CHAT, "{\"prompt\":[" + TOKEN + "]}");
            assertThat(fixture.told).filteredOn("picked"::equals).hasSize(3);
        }
        assertQuiet("");
    }

    @Test
    void requestsThatAreRefused_logNoContent() throws IOException {
        try (Fixture fixture =
                Fixture.aggregated(PickerSettings.builder().maxBodyBytes(200).build())) {
            exchange(
                    fixture,
                    SECRET,
                    "{\"prompt\":\"" + SECRET,
                    "{\"prompt\":" + SECRET + "}",
                    "{\"prompt\":[" + TOKEN + ",-" + TOKEN + "]}",
                    "{\"messages\":\"" + SECRET + "\"}",
                    "{\"model\":{\"" + SECRET + "\":1},\"prompt\":\"x\"}",
                    "{\"prompt\":\"" + SECRET.repeat(100) + "\"}");
            fixture.decode.list().forEach(worker -> fixture.decode.remove(worker.workerId()));
            exchange(fixture, COMPLETION);
            assertThat(fixture.told)
                    .filteredOn(word -> word.startsWith("refused"))
                    .hasSize(8);
        }
        assertQuiet("");
    }

    @Test
    void tokenizersThatFail_inWordsOfTheirOwn_logNoContent() throws IOException {
        try (Fixture fixture = Fixture.aggregated(PickerSettings.DEFAULT)) {
            fixture.tokenizer = request -> {
                throw quoting();
            };
            exchange(fixture, COMPLETION);
            fixture.tokenizer = request -> CompletableFuture.failedFuture(new CompletionException(quoting()));
            exchange(fixture, COMPLETION, CHAT);
            fixture.tokenizer = request -> new CompletableFuture<>();
            Proxy slow = fixture.open().headers(POST).body(CHAT);
            fixture.time.advance(Duration.ofSeconds(5));
            assertThat(slow.answers).hasSize(1);
        }
        assertQuiet("A request could not be routed");
    }

    @Test
    void poolsThatFail_inWordsOfTheirOwn_logNoContent() throws IOException {
        try (Fixture fixture = Fixture.over(core -> {
            GatedPool pool = new GatedPool(core);
            pool.reserving = CompletableFuture.failedFuture(quoting());
            return pool;
        })) {
            exchange(fixture, COMPLETION);
        }
        try (Fixture fixture = Fixture.over(core -> new BrittlePool(core, BrittlePool.Answer.AT_ONCE))) {
            exchange(fixture, COMPLETION);
        }
        assertQuiet("The pool failed to keep the books");
    }

    @Test
    void ownFailures_keepTheirWords() {
        Throwable shown = java.util.Objects.requireNonNull(
                Unquoted.of(new CompletionException(new dev.tandemkv.catalog.NotFoundException("worker", "7"))));

        StringWriter text = new StringWriter();
        shown.printStackTrace(new PrintWriter(text));
        assertThat(text.toString()).contains("CompletionException", "NotFoundException", "7", "PickerLogsTest");
    }

    @Test
    void engineThatAnswersNonsense_orQuotesThePrompt_logsNoContent() throws IOException {
        HttpServer engine = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        List<String> answers = List.of(
                "{\"tokens\":[" + TOKEN + "]}",
                "{\"tokens\":[\"" + SECRET + "\"]}",
                "{\"error\":\"" + SECRET + "\"}",
                SECRET);
        int[] next = {0};
        engine.createContext("/tokenize", exchange -> {
            exchange.getRequestBody().readAllBytes();
            byte[] answer = answers.get(next[0]++ % answers.size()).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(next[0] == 3 ? 400 : 200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        engine.start();
        URI service = URI.create("http://127.0.0.1:" + engine.getAddress().getPort());
        try (EngineTokenizer tokenizer = EngineTokenizer.builder(HttpClient.newHttpClient(), service, new VirtualTime())
                        .build();
                Fixture fixture = Fixture.aggregated(PickerSettings.DEFAULT)) {
            fixture.tokenizer = request -> {
                CompletableFuture<TokenizedPrompt> answer =
                        tokenizer.tokenize(request).toCompletableFuture();
                // On this thread, which the fixture is made for.
                try {
                    return CompletableFuture.completedFuture(answer.join());
                } catch (CompletionException e) {
                    return CompletableFuture.failedFuture(e.getCause() instanceof SelectionException own ? own : e);
                }
            };
            exchange(fixture, COMPLETION, CHAT, COMPLETION, CHAT);
            assertThat(fixture.told).contains("picked", "refused 502", "refused 400");
        } finally {
            engine.stop(0);
        }
        assertQuiet("");
    }
}

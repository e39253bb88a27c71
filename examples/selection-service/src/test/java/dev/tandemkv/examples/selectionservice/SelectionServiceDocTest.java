package dev.tandemkv.examples.selectionservice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.testkit.engine.http.HttpEngine;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Every sample of docs/selection-service.md does what the page says, and every option it names exists. */
class SelectionServiceDocTest {

    private static final Pattern BLOCK = Pattern.compile("```(sh|json)\\n(.*?)\\n```", Pattern.DOTALL);
    private static final Pattern CURL = Pattern.compile(
            "curl (?:-N )?(?:-X (?<method>[A-Z]+) )?'?(?<address>[^\\s']+)'?(?: -H '(?<header>[^']+)')?(?: -d '(?<body>[^']*)')?");
    private static final Pattern OPTION = Pattern.compile("`?(--[a-z][a-z-]+)");
    private static final ObjectMapper JSON = new ObjectMapper();

    private final String page = page();

    private static String page() {
        try {
            return Files.readString(
                    Path.of(System.getProperty("tandemkv.root", "../..")).resolve("docs/selection-service.md"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Two engines, so that the index of the last section follows one that holds nothing. */
    @Test
    void samples_runAgainstTheProcesses_answerAsThePageSays() throws Exception {
        int exchanges = 0;
        try (FakeEngines engines = FakeEngines.open();
                Assembly service = Assembly.start(arguments("examples/selection-service/run --engine"), Map.of());
                IndexAssembly index = IndexAssembly.start(List.of("--port", "0"), Map.of())) {
            HttpEngine engine = FakeEngines.ofArguments(
                    engines,
                    List.of("--block-size", "4", "--port", "0", "--kv-events-port", "0", "--replay-port", "0"));
            assertThat(page).contains("examples/selection-service/run engine --block-size 4\n");
            HttpEngine other = engines.start(HttpEngine.builder(2), 0, 0);
            Page first = new Page(service.port(), index.port(), engine);
            Page last = new Page(service.port(), index.port(), other);
            String asked = "";
            Matcher blocks = BLOCK.matcher(page);
            while (blocks.find()) {
                Page here = blocks.start() < page.indexOf("## One index") ? first : last;
                if (blocks.group(1).equals("json")) {
                    here.assertAnswers(asked, blocks.group(2));
                } else if (blocks.group(2).startsWith("curl")) {
                    asked = blocks.group(2);
                    here.send(asked);
                    exchanges++;
                }
            }
            HttpResponse<String> metrics = get(service.port(), "/metrics");
            assertThat(metrics.statusCode()).isEqualTo(200);
            assertThat(metrics.headers().firstValue("content-type").orElse("")).startsWith("text/plain");
            assertThat(metrics.body()).contains("# TYPE").contains("dynamo_frontend_worker_active_decode_blocks");
        }
        assertThat(exchanges).isEqualTo(12);
    }

    /** The arguments of a command of the page, on a free port. */
    private List<String> arguments(String beginning) {
        Matcher command =
                Pattern.compile("(?m)^" + Pattern.quote(beginning) + ".*$").matcher(page);
        assertThat(command.find()).as(beginning).isTrue();
        List<String> words = new ArrayList<>(List.of(command.group().split(" ")));
        words.remove(0);
        words.set(words.indexOf("--port") + 1, "0");
        return words;
    }

    /** The page's addresses, and where their processes are here. */
    private static final class Page {
        private final Map<String, String> addresses = new LinkedHashMap<>();
        private String answer = "";

        Page(int service, int index, HttpEngine engine) {
            addresses.put("localhost:8092", "127.0.0.1:" + service);
            addresses.put("localhost:8090", "127.0.0.1:" + index);
            addresses.put("127.0.0.1:8000", engine.address());
            addresses.put("localhost:8000", engine.address());
            addresses.put("tcp://127.0.0.1:5557", String.valueOf(engine.worker().get("kv_events_endpoint")));
            addresses.put("tcp://127.0.0.1:5558", String.valueOf(engine.worker().get("replay_endpoint")));
        }

        void send(String command) throws Exception {
            String here = command;
            for (Map.Entry<String, String> each : addresses.entrySet()) {
                here = replaced(here, each.getKey(), each.getValue());
            }
            Matcher curl = CURL.matcher(here);
            assertThat(curl.matches()).as(here).isTrue();
            String body = curl.group("body");
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://" + curl.group("address")))
                    .method(
                            curl.group("method") == null ? "GET" : curl.group("method"),
                            body == null
                                    ? HttpRequest.BodyPublishers.noBody()
                                    : HttpRequest.BodyPublishers.ofString(body));
            if (curl.group("header") != null) {
                String[] header = curl.group("header").split(": ", 2);
                request.header(header[0], header[1]);
            }
            HttpResponse<String> response =
                    HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
            assertThat(response.statusCode())
                    .as(command + ": " + response.body())
                    .isBetween(200, 201);
            answer = response.body();
            addresses.forEach((of, real) -> answer = replaced(answer, real, of));
            if (command.contains("/completions")) {
                assertThat(answer).startsWith("data: {").endsWith("data: [DONE]\n\n");
            }
        }

        /** A longer port number is another port. */
        private static String replaced(String text, String address, String by) {
            return text.replaceAll(Pattern.quote(address) + "(?![0-9])", Matcher.quoteReplacement(by));
        }

        /** What was answered is what the page shows; what an engine announces takes a moment, so a plain choice is asked for again. */
        void assertAnswers(String command, String shown) throws Exception {
            CountDownLatch never = new CountDownLatch(1);
            for (int i = 0; command.contains("/select ") && i < 1_000; i++) {
                if (JSON.readTree(answer).equals(JSON.readTree(shown))) {
                    return;
                }
                assertThat(never.await(10, TimeUnit.MILLISECONDS)).isFalse();
                send(command);
            }
            assertThat(JSON.readTree(answer)).isEqualTo(JSON.readTree(shown));
        }
    }

    private static HttpResponse<String> get(int port, String path) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void options_namedOnThePage_areListedByHelp() {
        ByteArrayOutputStream help = new ByteArrayOutputStream();
        SelectionServiceMain.help(new PrintStream(help, true, StandardCharsets.UTF_8));
        String listed = help.toString(StandardCharsets.UTF_8);
        List<String> unknown = new ArrayList<>();
        Matcher options = OPTION.matcher(page.replaceAll("(?s)```text.*?```", ""));
        while (options.find()) {
            String option = options.group(1).replace("--no-", "--");
            if (!option.equals("--help") && !listed.contains(option + " ")) {
                unknown.add(option);
            }
        }
        assertThat(unknown).isEmpty();
    }

    @Test
    void settings_thatCannotBeRead_areNamed() {
        assertNames("--router-queue-threshold", List.of("--router-queue-threshold", "abc"), Map.of());
        assertNames("DYN_ROUTER_TEMPERATURE", List.of(), Map.of("DYN_ROUTER_TEMPERATURE", "warm"));
        assertNames("--port", List.of("--port", "http"), Map.of());
        assertNames("--nosuch-option", List.of("--nosuch-option", "1"), Map.of());
        String url = "--remote-indexer-url (TANDEMKV_REMOTE_INDEXER_URL)";
        assertNames(url, List.of("--use-remote-indexer", "--port", "0"), Map.of());
        assertNames(url, List.of("--use-remote-indexer", "--remote-indexer-url", "nowhere", "--port", "0"), Map.of());
        assertNames(url, List.of("--port", "0"), Map.of("TANDEMKV_REMOTE_INDEXER_URL", "http://127.0.0.1:1"));
        assertNames("--engine-family", List.of("--engine-family", "steam", "--port", "0"), Map.of());
        assertNames("--replica-sync-port", List.of("--replica-sync-port", "99999"), Map.of());
    }

    @Test
    void indexSettings_thatCannotBeRead_areNamed() {
        assertThatThrownBy(() -> IndexAssembly.start(List.of("--port", "0", "--peers", "http://a:1,nowhere"), Map.of()))
                .isInstanceOfSatisfying(
                        BadRequestException.class, e -> assertThat(e.field()).isEqualTo("--peers"));
        assertThatThrownBy(() -> IndexAssembly.start(List.of(), Map.of("TANDEMKV_PORT", "x")))
                .isInstanceOfSatisfying(
                        BadRequestException.class, e -> assertThat(e.field()).isEqualTo("TANDEMKV_PORT"));
    }

    @Test
    void indexToldToBeStrict_refusesUnknownFields() throws Exception {
        Map<String, Object> query = Map.of("model_name", "m", "token_ids", List.of(1), "tokens", List.of());
        for (String strict : List.of("true", "false")) {
            try (IndexAssembly index = IndexAssembly.start(List.of("--port", "0", "--strict", strict), Map.of())) {
                URI address = URI.create("http://127.0.0.1:" + index.port() + "/query");

                assertThatThrownBy(() -> new ServiceClient().post(address, query))
                        .hasMessageContaining(strict.equals("true") ? ": 422 " : ": 404 ");
            }
        }
    }

    private static void assertNames(String setting, List<String> arguments, Map<String, String> environment) {
        assertThatThrownBy(() -> Assembly.start(arguments, environment))
                .isInstanceOfSatisfying(
                        BadRequestException.class, e -> assertThat(e.field()).isEqualTo(setting));
    }
}

package dev.tandemkv.examples.selectionservice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tandemkv.catalog.BadRequestException;
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
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Every sample of docs/selection-service.md does what the page says, and every option it names exists. */
class SelectionServiceDocTest {

    private static final Pattern BLOCK = Pattern.compile("```(sh|json)\\n(.*?)\\n```", Pattern.DOTALL);
    private static final Pattern CURL = Pattern.compile(
            "curl (?:-X (?<method>[A-Z]+) )?localhost:(?<port>8092|8090)(?<path>\\S+)(?: -H '(?<header>[^']+)')?(?: -d '(?<body>[^']*)')?");
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

    @Test
    void samples_runAgainstTheService_answerAsThePageSays() throws Exception {
        int exchanges = 0;
        try (Assembly service = Assembly.start(List.of("--no-use-kv-events", "--port", "0"), Map.of());
                IndexAssembly index = IndexAssembly.start(List.of("--port", "0"), Map.of())) {
            Map<String, Integer> ports = Map.of("8092", service.port(), "8090", index.port());
            String answer = "";
            Matcher blocks = BLOCK.matcher(page);
            while (blocks.find()) {
                if (blocks.group(1).equals("json")) {
                    assertThat(JSON.readTree(answer)).isEqualTo(JSON.readTree(blocks.group(2)));
                } else if (blocks.group(2).startsWith("curl")) {
                    answer = send(blocks.group(2), ports);
                    exchanges++;
                }
            }
            HttpResponse<String> metrics = get(service.port(), "/metrics");
            assertThat(metrics.statusCode()).isEqualTo(200);
            assertThat(metrics.headers().firstValue("content-type").orElse("")).startsWith("text/plain");
            assertThat(metrics.body()).contains("# TYPE").contains("dynamo_frontend_worker_active_decode_blocks");
        }
        assertThat(exchanges).isEqualTo(10);
    }

    private static String send(String command, Map<String, Integer> ports) throws Exception {
        Matcher curl = CURL.matcher(command);
        assertThat(curl.matches()).as(command).isTrue();
        String method = curl.group("method") == null ? "GET" : curl.group("method");
        String body = curl.group("body");
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + ports.get(curl.group("port")) + curl.group("path")))
                .method(
                        method,
                        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        if (curl.group("header") != null) {
            String[] header = curl.group("header").split(": ", 2);
            request.header(header[0], header[1]);
        }
        HttpResponse<String> response =
                HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(command + ": " + response.body()).isBetween(200, 201);
        return response.body();
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
        Matcher options = OPTION.matcher(page);
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
        assertNames("--remote-indexer-url", List.of("--use-remote-indexer", "--port", "0"), Map.of());
        assertNames(
                "--remote-indexer-url",
                List.of("--use-remote-indexer", "--remote-indexer-url", "nowhere", "--port", "0"),
                Map.of());
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

    private static void assertNames(String setting, List<String> arguments, Map<String, String> environment) {
        assertThatThrownBy(() -> Assembly.start(arguments, environment))
                .isInstanceOfSatisfying(
                        BadRequestException.class, e -> assertThat(e.field()).isEqualTo(setting));
    }
}

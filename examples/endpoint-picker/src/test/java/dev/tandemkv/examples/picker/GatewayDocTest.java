package dev.tandemkv.examples.picker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tandemkv.adapters.extproc.PickerObserver;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Every sample of docs/gateway-envoy.md does what the page says, and every option it names exists. */
class GatewayDocTest {

    private static final Pattern OPTION = Pattern.compile("(--[a-z][a-z-]+)");
    private static final Pattern BODY = Pattern.compile("-d '([^']*)'");
    private static final Path ROOT = Path.of(System.getProperty("tandemkv.root", "../.."));

    @TempDir
    Path directory;

    private final String page = page();

    private static String page() {
        try {
            return Files.readString(ROOT.resolve("docs/gateway-envoy.md"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> blocks(String language) {
        List<String> blocks = new ArrayList<>();
        Matcher each = Pattern.compile("```" + language + "\\n(.*?)\\n```", Pattern.DOTALL)
                .matcher(page);
        while (each.find()) {
            blocks.add(each.group(1));
        }
        return blocks;
    }

    private String command(String beginning) {
        return blocks("sh").stream()
                .filter(block -> block.startsWith(beginning))
                .findFirst()
                .orElseThrow();
    }

    private static Options options(String... arguments) {
        Options options = new Options();
        Environment.under(Map.of(), new CommandLine(options)).parseArgs(arguments);
        return options;
    }

    @Test
    void envoyConfiguration_isTheOneTheQuickstartRuns_andAsksThePickersPort() throws IOException {
        try (InputStream in = Envoy.class.getResourceAsStream("/envoy.yaml")) {
            String used = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
            assertThat(blocks("yaml")).containsExactly(used.strip());
        }
        assertThat(blocks("yaml").get(0)).contains("port_value: " + options().port + " ");
    }

    @Test
    void command_withTheWorkersOfThePage_startsAPickerThatKnowsThem_andAsksItsTokenizer() throws Exception {
        String[] arguments =
                command("examples/endpoint-picker/run --workers-file").split(" ");
        Options options = options(Arrays.copyOfRange(arguments, 1, arguments.length));
        assertThat(options.workers()).hasToString("workers.json");
        options.workersFile = Files.writeString(
                directory.resolve("workers.json"), blocks("json").get(0));
        options.port = 0;
        // Nobody answers there; the page's addresses are not this machine's.
        options.tokenizerServiceUrl = URI.create("http://127.0.0.1:1");

        try (Assembly picker = Assembly.start(options, Map.of(), PickerObserver.none())) {
            assertThat(workers(picker)).hasSize(2).allSatisfy(spec -> {
                assertThat(spec.partition().modelName()).isEqualTo("MODEL");
                assertThat(spec.blockSize()).isEqualTo(16);
                assertThat(spec.kvEventsEndpointOf(0)).matches("tcp://10\\.0\\.0\\.[12]:5557");
                assertThat(spec.replayEndpoint()).matches("tcp://10\\.0\\.0\\.[12]:5558");
            });
            assertThat(status(picker, command("curl")))
                    .as("the page: a tokenizer that cannot be reached")
                    .isEqualTo(503);
        }
    }

    private static int status(Assembly picker, String curl) throws Exception {
        Matcher body = BODY.matcher(curl);
        assertThat(body.find()).isTrue();
        assertThat(new ObjectMapper().readTree(body.group(1)).isObject()).isTrue();
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", picker.port())
                .usePlaintext()
                .build();
        try (PickerStream stream = PickerStream.open(channel)) {
            return stream.request(
                            Map.of(":method", "POST", ":path", "/v1/completions"),
                            body.group(1).getBytes(StandardCharsets.UTF_8))
                    .getImmediateResponse()
                    .getStatus()
                    .getCodeValue();
        } finally {
            channel.shutdownNow();
        }
    }

    /** Once the file is read; its workers come one after the other. */
    private static List<WorkerSpec> workers(Assembly picker) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < 5_000 && picker.pool().list().size() < 2; i++) {
            assertThat(never.await(10, TimeUnit.MILLISECONDS)).isFalse();
        }
        return picker.pool().list().stream().map(WorkerRecord::spec).toList();
    }

    @Test
    void options_namedOnThePage_areListedByHelp() {
        StringWriter help = new StringWriter();
        PrintWriter to = new PrintWriter(help, true);
        EndpointPicker.run(to, to, Map.of(), "--help");
        EndpointPicker.run(to, to, Map.of(), "quickstart", "--help");
        List<String> unknown = new ArrayList<>();
        Matcher named = OPTION.matcher(page.replaceAll("(?s)```text.*?```", ""));
        while (named.find()) {
            if (!Pattern.compile(named.group(1) + "(?![a-z-])")
                    .matcher(help.toString())
                    .find()) {
                unknown.add(named.group(1));
            }
        }
        assertThat(unknown).isEmpty();
    }
}

package dev.tandemkv.adapters.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A real Envoy on loopback, with a configuration of the test's resources. */
final class EnvoyProcess implements AutoCloseable {

    private static final Pattern GATEWAY = Pattern.compile("\"port_value\":\\s*(\\d+)");

    private final Process process;
    private final URI gateway;

    private EnvoyProcess(Process process, URI gateway) {
        this.process = process;
        this.gateway = gateway;
    }

    /** The binary that the system property {@code tandemkv.envoy} or the variable {@code TANDEMKV_ENVOY} names, or one on the path. */
    static Optional<Path> binary() {
        String named = System.getProperty("tandemkv.envoy", System.getenv("TANDEMKV_ENVOY"));
        Stream<Path> candidates = named != null && !named.isEmpty()
                ? Stream.of(Path.of(named))
                : Stream.of(System.getenv("PATH").split(java.io.File.pathSeparator))
                        .map(directory -> Path.of(directory, "envoy"));
        return candidates.filter(Files::isExecutable).findFirst();
    }

    static EnvoyProcess start(Path directory, String upstream, Map<String, String> values) throws IOException {
        String config = fill(resource("envoy.yaml").replace("${upstream}", resource(upstream)), values);
        Path file = Files.writeString(directory.resolve("envoy.yaml"), config);
        Path admin = directory.resolve("admin");
        Process process = new ProcessBuilder(
                        binary().orElseThrow().toString(),
                        "-c",
                        file.toString(),
                        "--admin-address-path",
                        admin.toString(),
                        "--use-dynamic-base-id",
                        "--concurrency",
                        "1",
                        "--log-level",
                        "error")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("envoy.log").toFile())
                .start();
        try {
            AtomicReference<URI> gateway = new AtomicReference<>();
            Eventually.holds("Envoy listens", () -> {
                listening(process, admin).ifPresent(gateway::set);
                return gateway.get() != null;
            });
            return new EnvoyProcess(process, gateway.get());
        } catch (AssertionError | RuntimeException e) {
            process.destroyForcibly();
            throw e;
        }
    }

    private static String fill(String config, Map<String, String> values) {
        String filled = config;
        for (Map.Entry<String, String> value : values.entrySet()) {
            filled = filled.replace("${" + value.getKey() + "}", value.getValue());
        }
        assertThat(filled).doesNotContain("${");
        return filled;
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = EnvoyProcess.class.getResourceAsStream("/" + name)) {
            return new String(java.util.Objects.requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static Optional<URI> listening(Process process, Path admin) {
        assertThat(process.isAlive()).as("Envoy runs").isTrue();
        try {
            if (!Files.exists(admin) || Files.size(admin) == 0) {
                return Optional.empty();
            }
            URLConnection listeners = URI.create(
                            "http://" + Files.readString(admin).strip() + "/listeners?format=json")
                    .toURL()
                    .openConnection();
            listeners.setReadTimeout(5_000);
            Matcher port;
            try (InputStream answer = listeners.getInputStream()) {
                port = GATEWAY.matcher(new String(answer.readAllBytes(), StandardCharsets.UTF_8));
            }
            return port.find() && !port.group(1).equals("0")
                    ? Optional.of(URI.create("http://127.0.0.1:" + port.group(1)))
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    URI gateway() {
        return gateway;
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}

package dev.tandemkv.examples.picker;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A real Envoy on loopback with the configuration of docs/gateway-envoy.md, on free ports. */
final class Envoy implements Gateway {

    private static final int POLLS = 1_200;
    private static final long POLL_MILLIS = 25;

    private final Path binary;
    private final Path directory;
    private final Process process;
    private volatile @Nullable URI address;

    private Envoy(Path binary, Path directory, Process process) {
        this.binary = binary;
        this.directory = directory;
        this.process = process;
    }

    /** The binary that was named, or one on the path. */
    static Optional<Path> find(@Nullable Path named, @Nullable String path) {
        Stream<Path> candidates = named != null
                ? Stream.of(named)
                : Stream.of(Objects.requireNonNullElse(path, "").split(File.pathSeparator, -1))
                        .map(directory -> Path.of(directory, "envoy"));
        return candidates
                .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
                .findFirst();
    }

    /** Starts it; it does not listen yet. */
    static Envoy start(Path binary, int pickerPort, Path directory) throws IOException {
        Path config = Files.writeString(directory.resolve("envoy.yaml"), configuration(pickerPort));
        Process process = new ProcessBuilder(
                        binary.toString(),
                        "-c",
                        config.toString(),
                        "--admin-address-path",
                        directory.resolve("admin").toString(),
                        "--use-dynamic-base-id",
                        "--concurrency",
                        "1",
                        "--log-level",
                        "error")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("envoy.log").toFile())
                .start();
        return new Envoy(binary, directory, process);
    }

    /** @throws IOException if it does not come up; its log says why */
    void awaitListening() throws IOException, InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < POLLS && process.isAlive() && address == null; i++) {
            address = listening(directory.resolve("admin")).orElse(null);
            if (address == null && never.await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
                break;
            }
        }
        if (address == null) {
            throw new IOException(binary + " does not start: "
                    + Files.readString(directory.resolve("envoy.log")).strip());
        }
    }

    private static String configuration(int pickerPort) throws IOException {
        try (InputStream in = Envoy.class.getResourceAsStream("/envoy.yaml")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8)
                    .replace("port_value: 9901", "port_value: 0")
                    .replace("port_value: 8080", "port_value: 0")
                    .replace("port_value: 9002", "port_value: " + pickerPort);
        }
    }

    private static Optional<URI> listening(Path admin) {
        try {
            if (!Files.exists(admin) || Files.size(admin) == 0) {
                return Optional.empty();
            }
        } catch (IOException e) {
            return Optional.empty();
        }
        try (InputStream answer = URI.create("http://" + Files.readString(admin).strip() + "/listeners?format=json")
                .toURL()
                .openStream()) {
            int port = new ObjectMapper()
                    .readTree(answer)
                    .at("/listener_statuses/0/local_address/socket_address/port_value")
                    .asInt();
            return port == 0 ? Optional.empty() : Optional.of(URI.create("http://127.0.0.1:" + port));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    @Override
    public String name() {
        return "Envoy";
    }

    @Override
    public URI address() {
        return Objects.requireNonNull(address, "not listening");
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}

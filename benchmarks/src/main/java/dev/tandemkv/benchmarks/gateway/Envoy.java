package dev.tandemkv.benchmarks.gateway;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A real Envoy on loopback, with one worker thread and the configuration {@code gateway-envoy.yaml}. */
final class Envoy implements AutoCloseable {

    private static final int LOOKS = 400;

    private final Process process;
    private final int port;

    private Envoy(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /** What {@code TANDEMKV_ENVOY} names; without it, one on the path. */
    static Optional<Path> binary() {
        String named = System.getenv("TANDEMKV_ENVOY");
        Stream<Path> candidates = named != null && !named.isEmpty()
                ? Stream.of(Path.of(named))
                : Stream.of(System.getenv("PATH").split(File.pathSeparator, -1)).map(each -> Path.of(each, "envoy"));
        return candidates.filter(Files::isExecutable).findFirst();
    }

    /** Returns when it listens. */
    static Envoy start(Path binary, int picker, int engine) throws IOException, InterruptedException {
        int port = freePort();
        String config = template()
                .replace("${gateway}", Integer.toString(port))
                .replace("${picker}", Integer.toString(picker))
                .replace("${engine}", Integer.toString(engine));
        Process process = new ProcessBuilder(
                        binary.toString(),
                        "--config-yaml",
                        config,
                        "--use-dynamic-base-id",
                        "--concurrency",
                        "1",
                        "--log-level",
                        "error")
                .inheritIO()
                .start();
        Envoy envoy = new Envoy(process, port);
        for (int i = 0; i < LOOKS; i++) {
            if (process.waitFor(50, TimeUnit.MILLISECONDS)) {
                throw new IOException("Envoy ended with " + process.exitValue());
            }
            if (envoy.listens()) {
                return envoy;
            }
        }
        envoy.close();
        throw new IOException("Envoy does not listen");
    }

    private static String template() throws IOException {
        try (InputStream in = Envoy.class.getResourceAsStream("/gateway-envoy.yaml")) {
            return new String(Objects.requireNonNull(in, "gateway-envoy.yaml").readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private boolean listens() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    URI gateway() {
        return URI.create("http://127.0.0.1:" + port);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}

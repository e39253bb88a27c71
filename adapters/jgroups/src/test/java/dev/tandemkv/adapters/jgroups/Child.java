package dev.tandemkv.adapters.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A {@link GatewayProcess} as the test sees it. Nothing waits for it for ever. */
final class Child implements AutoCloseable {

    private static final int PATIENCE_SECONDS = 55;
    private static final String ENDED = "the process ended";

    private final Process process;
    private final PrintStream commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private String port = "";

    /** Returns at once: processes start beside each other and join one after the other. */
    Child(String cluster, long orphanMillis) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classPath(),
                GatewayProcess.class.getName(),
                cluster,
                String.valueOf(orphanMillis)));
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        Thread reader = new Thread(this::read, "child-" + process.pid());
        reader.setDaemon(true);
        reader.start();
    }

    /** Of this process, whose tests run as a named module: its path holds what the class path does not. */
    private static String classPath() {
        return System.getProperty("java.class.path") + File.pathSeparator + System.getProperty("jdk.module.path", "");
    }

    private void read() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            lines.lines().forEach(answers::add);
        } catch (IOException | UncheckedIOException e) {
            answers.add(e.toString());
        }
        answers.add(ENDED);
    }

    /** Joins the group of others, or founds one. */
    void join(Child... others) throws InterruptedException {
        port = ask(Stream.of(others).map(other -> ' ' + other.port).collect(Collectors.joining("", "join", "")));
        assertThat(port).containsOnlyDigits();
    }

    /** Where it listens, once it has joined. */
    String port() {
        return port;
    }

    String ask(String command) throws InterruptedException {
        commands.println(command);
        return answer();
    }

    void expect(String command, String answer) throws InterruptedException {
        assertThat(ask(command)).as(command).isEqualTo(answer);
    }

    private String answer() throws InterruptedException {
        String line = answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(line).as("an answer in time").isNotNull();
        return line;
    }

    /** Ends it at once, with what it has booked. */
    void kill() throws InterruptedException {
        assertThat(process.destroyForcibly().waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS))
                .isTrue();
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }
}

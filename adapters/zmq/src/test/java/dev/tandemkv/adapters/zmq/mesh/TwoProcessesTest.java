package dev.tandemkv.adapters.zmq.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A gateway here and one in a Java process of its own share load and sessions. */
class TwoProcessesTest {

    private static final class Child implements AutoCloseable {
        private final Process process;
        private final PrintStream commands;
        private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        final String endpoint;

        Child() throws IOException, InterruptedException {
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx256m",
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            GatewayProcess.class.getName())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
            // Who reads from a process cannot be interrupted.
            Thread reader = new Thread(this::read);
            reader.setDaemon(true);
            reader.start();
            endpoint = answer();
        }

        private void read() {
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                lines.lines().forEach(answers::add);
            } catch (IOException | UncheckedIOException e) {
                answers.add("its answers cannot be read: " + e.getMessage());
            }
            answers.add("it has ended");
        }

        String ask(String command) throws InterruptedException {
            commands.println(command);
            return answer();
        }

        private String answer() throws InterruptedException {
            return Objects.requireNonNull(
                    answers.poll(Gateway.PATIENCE.toSeconds() + 10, TimeUnit.SECONDS), "the other process is silent");
        }

        /** Ends it at once, with what it has booked. */
        void kill() throws InterruptedException {
            process.destroyForcibly().waitFor();
        }

        @Override
        public void close() throws InterruptedException {
            commands.close();
            process.waitFor(Gateway.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            kill();
        }
    }

    @Test
    @Timeout(value = 3, unit = TimeUnit.MINUTES)
    void loadAndSessions_areSharedBetweenProcesses_andASuccessorIsToldThem() throws Exception {
        try (Gateway here = new Gateway()) {
            Child there = new Child();
            try {
                connect(here, there, 2);
                WorkerRank bound = here.replica.book("ours", "session");
                assertThat(there.ask("await 1")).isEqualTo("reached");
                // Bookings and sessions are told each for themselves; that one is known says nothing of the other.
                assertThat(there.ask("sticks session " + bound.workerId())).isEqualTo("sticks");
                for (int i = 0; i < 8; i++) {
                    assertThat(there.ask("look prompt" + i + " session")).isEqualTo("" + bound.workerId());
                }
                WorkerRank booked = WorkerRank.of(Long.parseLong(there.ask("book theirs another")));
                assertThat(booked).isNotEqualTo(bound);
                here.awaitCount(2);
                assertThat(here.replica.counted(booked)).isEqualTo(1);
                here.await(() -> here.replica.look("prompt", "another").equals(booked));

                assertThat(there.ask("book short third")).isNotNull();
                here.awaitCount(3);
                assertThat(there.ask("close short")).isEqualTo("closed");
                here.awaitCount(2);
                assertThat(there.ask("free ours")).isEqualTo("FREED");
                here.awaitCount(1);
                here.await(() -> here.replica.core().stats().freed() == 1);
            } finally {
                there.kill();
            }
            here.replica.book("kept", "session");
            try (Child successor = new Child()) {
                connect(here, successor, 4);
                assertThat(successor.ask("await 1")).isEqualTo("reached");
                WorkerRank bound = here.replica.look("prompt", "session");
                assertThat(successor.ask("sticks session " + bound.workerId())).isEqualTo("sticks");
                here.replica.freeAll();
                assertThat(successor.ask("await 0")).isEqualTo("reached");
            }
        }
    }

    private static void connect(Gateway here, Child there, int subscriptions) throws Exception {
        assertThat(there.ask("peer " + here.mesh.endpoint())).isEqualTo("true");
        here.replica.core().registerPeer(there.endpoint);
        here.await(() -> here.mesh.stats().joined() >= subscriptions);
        assertThat(there.ask("heard")).isEqualTo("heard");
    }
}

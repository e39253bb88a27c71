package dev.tandemkv.examples.enginewatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.adapters.zmq.EngineSockets;
import dev.tandemkv.testkit.engine.wire.FaultyLine.Fault;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The screen over a fake engine on loopback. Each test waits for what it expects to see, however long that takes. */
class LiveWatchTest {

    private static final String ANY = "tcp://127.0.0.1:*";

    private static FakeFleet fleet(WireDialect dialect, int ranks) {
        return FakeFleet.start(new FakeFleet.Settings(ranks, dialect, "kv@x", 16, 1_200, 20, 1, ANY, ANY));
    }

    /** What has to be seen, and what is done then. */
    private record Stage(Predicate<String> seen, Runnable then) {}

    /** Watches until every stage was seen in its order; gives the last picture. */
    private static String watch(
            List<LiveWatch.Target> targets, @Nullable String bind, LiveWatch.Settings settings, Stage... stages) {
        ArrayDeque<Stage> due = new ArrayDeque<>(List.of(stages));
        List<String> pictures = new ArrayList<>();
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text) {
            @Override
            public void flush() {
                pictures.add(text.toString());
                text.getBuffer().setLength(0);
                if (due.element().seen.test(pictures.get(pictures.size() - 1))) {
                    due.remove().then.run();
                }
                if (due.isEmpty()) {
                    // The watch ends when it waits for its next picture.
                    due.add(new Stage(picture -> false, () -> {}));
                    Thread.currentThread().interrupt();
                }
            }
        };
        try {
            new LiveWatch(targets, bind, settings, new Screen(out, false)).run();
            throw new AssertionError("the watch ended by itself");
        } catch (InterruptedException e) {
            return pictures.get(pictures.size() - 1);
        }
    }

    private static LiveWatch.Settings settings(EngineFamily family, int blockSize, int @Nullable [] prompt) {
        return new LiveWatch.Settings(
                family,
                new Geometry(blockSize, 0),
                0,
                prompt == null ? null : new LiveWatch.Prompt(prompt, null, null),
                0.02,
                null);
    }

    /** How many rows of ranks end so; what happened to them has the time in front. */
    private static long rowsThatAre(String state, String picture) {
        return picture.lines()
                .filter(line -> line.matches("\\d+ +[\\d,]+ .*" + state))
                .count();
    }

    @Test
    void healthyEngine_isShownExactWithThePromptHeld() {
        try (FakeFleet fleet = fleet(WireDialect.VLLM_0_33, 2)) {
            String picture = watch(
                    fleet.targets(),
                    null,
                    settings(EngineFamily.VLLM, 16, fleet.systemPrompt()),
                    new Stage(seen -> rowsThatAre("24 \\(100 %\\) +EXACT", seen) == 2, () -> {}));

            assertThat(picture).contains("engine vllm, blocks of 16 tokens", "prompt of 24", "left out none");
        }
    }

    @Test
    void faults_areShownAndRepaired() {
        try (FakeFleet fleet = fleet(WireDialect.SGLANG_0_5_22, 1)) {
            Predicate<String> exact = seen -> rowsThatAre("EXACT", seen) == 1;
            watch(
                    fleet.targets(),
                    null,
                    settings(EngineFamily.SGLANG, 16, null),
                    new Stage(
                            exact,
                            () -> fleet.onEveryRank(worker -> worker.rank().inject(Fault.DROP, 2))),
                    new Stage(
                            exact.and(seen -> seen.contains("gaps 1")),
                            () -> fleet.onEveryRank(worker -> worker.rank().inject(Fault.GARBAGE, 4))),
                    new Stage(
                            exact.and(seen ->
                                    seen.contains("unreadable payloads") || seen.contains("malformed messages")),
                            () -> fleet.onEveryRank(FakeWorker::restart)),
                    new Stage(
                            exact.and(seen -> seen.contains("restarts 1")),
                            () -> fleet.onEveryRank(worker -> worker.rank().loseForGood())),
                    new Stage(
                            seen -> seen.contains("DEGRADED (permanent_gap")
                                    || seen.contains("started_after_requested"),
                            () -> {}));
        }
    }

    @Test
    void wrongBlockSize_isSaid() {
        try (FakeFleet fleet = fleet(WireDialect.VLLM_0_33, 1)) {
            String picture = watch(
                    fleet.targets(),
                    null,
                    settings(EngineFamily.VLLM, 64, null),
                    new Stage(seen -> seen.contains("--block-size"), () -> {}));

            assertThat(picture).contains("than the 64 tokens of --block-size", "conflicting_block_size");
        }
    }

    @Test
    void silentEndpoint_isSaid() throws IOException {
        int free;
        try (ServerSocket socket = new ServerSocket(0)) {
            free = socket.getLocalPort();
        }
        LiveWatch.Target nobody = new LiveWatch.Target(0, 0, "tcp://127.0.0.1:" + free, null, null);

        assertThat(watch(
                        List.of(nobody),
                        null,
                        settings(EngineFamily.VLLM, 16, null),
                        new Stage(seen -> seen.contains("Nothing has been heard"), () -> {})))
                .contains("not connected yet");
    }

    @Test
    void endpointThatIsTaken_isNamedAndTheCodeIsOne() throws IOException {
        try (ServerSocket taken = new ServerSocket(0)) {
            StringWriter err = new StringWriter();
            String endpoint = "tcp://127.0.0.1:" + taken.getLocalPort();
            PrintWriter errors = new PrintWriter(err, true);
            PrintWriter out = new PrintWriter(new StringWriter());

            assertThat(EngineWatch.run(out, errors, false, "--bind", endpoint, "--topic", "a"))
                    .isEqualTo(1);
            assertThat(EngineWatch.run(out, errors, false, "fake-engine", "--publish", endpoint))
                    .isEqualTo(1);

            assertThat(err.toString().lines())
                    .containsExactly(
                            "engine-watch: --bind: " + endpoint + " (expected: an endpoint that is free)",
                            "engine-watch: --publish, --replay: " + endpoint
                                    + ", tcp://127.0.0.1:5657 (expected: endpoints that are free)");
        }
    }

    @Test
    void commands_ofTheFakeEngine_areObeyed() {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        String commands =
                "drop\n\nstall\nstatus\nresume\nduplicate 3\nreorder\ngarbage 2\nlose\nclear\nrestart\nstatus\n"
                        + "drop x\nfly\nquit\nstatus\n";
        FakeEngineCommand command = new FakeEngineCommand(
                new PrintWriter(out, true), new PrintWriter(err, true), new StringReader(commands));

        int code = new CommandLine(command)
                .execute("--publish", ANY, "--replay", ANY, "--ranks", "2", "--release", "sglang-0.5.18");

        assertThat(code).isZero();
        assertThat(out.toString().lines().filter(line -> line.contains("publishes at")))
                .hasSize(2);
        assertThat(out.toString()
                        .lines()
                        .filter(line -> line.matches("rank [01] holds \\d+ blocks, its next batch is \\d+, stalled")))
                .hasSize(2);
        assertThat(out.toString().lines().filter(line -> line.contains(" holds ")))
                .hasSize(4);
        assertThat(err.toString().lines())
                .hasSize(2)
                .first()
                .asString()
                .startsWith("command: drop x (expected: drop, duplicate");
    }

    @Test
    void enginesThatConnect_areToldApartByTheirTopics() throws IOException {
        int free;
        try (ServerSocket socket = new ServerSocket(0)) {
            free = socket.getLocalPort();
        }
        String bind = "tcp://127.0.0.1:" + free;
        try (EngineSockets sockets = EngineSockets.start()) {
            Chatter first = new Chatter(sockets, bind, "kv@pod-1@m");
            Chatter second = new Chatter(sockets, bind, "kv@pod-10@m");

            watch(
                    List.of(
                            new LiveWatch.Target(0, 0, null, null, "kv@pod-1@m"),
                            new LiveWatch.Target(1, 0, null, null, "kv@pod-10@m")),
                    bind,
                    settings(EngineFamily.VLLM, 4, null),
                    // Until a publisher's connection stands, what it says is lost.
                    new Stage(
                            seen -> {
                                first.say();
                                second.say();
                                return seen.lines()
                                                .filter(line -> line.matches("[01] +[\\d,]+ +[\\d,]+ +\\d+ .*"))
                                                .count()
                                        == 2;
                            },
                            () -> {}));
        }
    }
}

package dev.tandemkv.examples.enginewatch;

import dev.tandemkv.testkit.engine.wire.FaultyLine.Fault;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs a fake engine as a process of its own. */
@Command(
        name = "fake-engine",
        sortOptions = false,
        usageHelpWidth = 110,
        description = {
            "Publishes and replays KV events exactly as releases of vLLM and SGLang do, of an engine that is not there.",
            ""
        },
        footer = {
            "",
            "Commands on standard input, for all ranks: drop [N], duplicate [N], reorder [N], garbage [N] (the next N",
            "batches), lose (a number that is never sent), stall, resume, restart, clear, status, quit."
        })
final class FakeEngineCommand implements Callable<Integer> {

    private static final String COMMANDS =
            "drop, duplicate, reorder, garbage, lose, stall, resume, restart, clear, status or quit";

    @Option(
            names = "--publish",
            paramLabel = "ENDPOINT",
            defaultValue = "tcp://127.0.0.1:5557",
            description = "Of rank 0; rank r at port + r. A port of * takes a free one. Default: ${DEFAULT-VALUE}.")
    private String publish = "";

    @Option(
            names = "--replay",
            paramLabel = "ENDPOINT",
            defaultValue = "tcp://127.0.0.1:5657",
            description = "Where replay requests are answered, likewise. Default: ${DEFAULT-VALUE}.")
    private String replay = "";

    @Option(
            names = "--ranks",
            paramLabel = "N",
            defaultValue = "1",
            description = "Data-parallel ranks. Default: ${DEFAULT-VALUE}.")
    private int ranks;

    @Option(
            names = "--release",
            paramLabel = "NAME",
            defaultValue = "vllm-0.33.0",
            description = "Whose bytes: vllm-0.9 and later, sglang-0.4 and later. Default: ${DEFAULT-VALUE}.")
    private String release = "";

    @Option(names = "--topic", paramLabel = "NAME", defaultValue = "", description = "Topic. Default: the empty one.")
    private String topic = "";

    @Option(
            names = "--block-size",
            paramLabel = "N",
            defaultValue = "16",
            description = "Tokens of a block. Default: ${DEFAULT-VALUE}.")
    private int blockSize;

    @Option(
            names = "--cache-blocks",
            paramLabel = "N",
            defaultValue = "1200",
            description = "Blocks that each rank can cache. Default: ${DEFAULT-VALUE}.")
    private int cacheBlocks;

    @Option(
            names = "--rate",
            paramLabel = "X",
            defaultValue = "8",
            description = "Requests a second of each rank. Default: ${DEFAULT-VALUE}.")
    private double rate;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "42",
            description = "Of requests and garbage. Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Option(
            names = "--write-prompt",
            paramLabel = "FILE",
            description = "Writes a prompt that many requests begin with, for --prompt of the watch.")
    private @Nullable Path writePrompt;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this text.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean help;

    private final PrintWriter out;
    private final PrintWriter err;
    private final Reader in;

    FakeEngineCommand(PrintWriter out, PrintWriter err) {
        this(out, err, new InputStreamReader(System.in, StandardCharsets.UTF_8));
    }

    /** @param in where commands come from; at its end the engine goes on */
    FakeEngineCommand(PrintWriter out, PrintWriter err, Reader in) {
        this.out = out;
        this.err = err;
        this.in = in;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        UsageException.require(ranks >= 1 && ranks <= 1_024, "--ranks", ranks, "1 to 1024");
        UsageException.require(blockSize >= 1 && blockSize <= 4_096, "--block-size", blockSize, "1 to 4096");
        UsageException.require(cacheBlocks >= 100, "--cache-blocks", cacheBlocks, ">= 100");
        UsageException.require(rate > 0 && rate <= 10_000, "--rate", rate, "above 0, at most 10000");
        FakeFleet.Settings settings =
                new FakeFleet.Settings(ranks, dialect(), topic, blockSize, cacheBlocks, rate, seed, publish, replay);
        try (FakeFleet fleet = FakeFleet.start(settings)) {
            if (writePrompt != null) {
                Files.writeString(writePrompt, Arrays.toString(fleet.systemPrompt()) + System.lineSeparator());
            }
            for (LiveWatch.Target target : fleet.targets()) {
                out.println("rank " + target.rank() + " publishes at " + target.endpoint() + " and answers replays at "
                        + target.replayEndpoint());
            }
            out.println("Commands: " + COMMANDS);
            out.flush();
            obey(fleet);
        }
        return CommandLine.ExitCode.OK;
    }

    private WireDialect dialect() {
        int dash = release.lastIndexOf('-');
        try {
            return WireDialect.of(release.substring(0, Math.max(0, dash)), release.substring(dash + 1));
        } catch (IllegalArgumentException e) {
            throw new UsageException("--release", release, "vllm-VERSION or sglang-VERSION; " + e.getMessage());
        }
    }

    private void obey(FakeFleet fleet) throws IOException, InterruptedException {
        BufferedReader commands = new BufferedReader(in);
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.strip().split("\\s+");
            if (words[0].equals("quit")) {
                return;
            }
            if (!words[0].isEmpty()) {
                obey(fleet, words);
            }
        }
        // In the background there is nobody to give commands.
        new CountDownLatch(1).await();
    }

    private void obey(FakeFleet fleet, String[] words) {
        int count = words.length > 1 && words[1].matches("[0-9]{1,6}") ? Integer.parseInt(words[1]) : 1;
        boolean known = words.length <= 2 && count >= 1 && (words.length == 1 || words[1].matches("[0-9]{1,6}"));
        switch (known ? words[0] : "") {
            case "drop" -> inject(fleet, Fault.DROP, count);
            case "duplicate" -> inject(fleet, Fault.DUPLICATE, count);
            case "reorder" -> inject(fleet, Fault.REORDER, count);
            case "garbage" -> inject(fleet, Fault.GARBAGE, count);
            case "lose" -> fleet.onEveryRank(worker -> worker.rank().loseForGood());
            case "stall" -> fleet.onEveryRank(worker -> worker.rank().stall());
            case "resume" -> fleet.onEveryRank(worker -> worker.rank().resume());
            case "restart" -> fleet.onEveryRank(FakeWorker::restart);
            case "clear" -> fleet.onEveryRank(FakeWorker::clear);
            case "status" -> status(fleet);
            default -> err.println("command: " + String.join(" ", words) + " (expected: " + COMMANDS + ')');
        }
    }

    private static void inject(FakeFleet fleet, Fault fault, int batches) {
        fleet.onEveryRank(worker -> worker.rank().inject(fault, batches));
    }

    private void status(FakeFleet fleet) {
        fleet.onEveryRank(worker -> out.println("rank " + worker.rank().config().rank() + " holds "
                + worker.rank().held().size() + " blocks, its next batch is "
                + Long.toUnsignedString(worker.rank().nextSequence())
                + (worker.rank().isStalled() ? ", stalled" : "")));
        out.flush();
    }
}

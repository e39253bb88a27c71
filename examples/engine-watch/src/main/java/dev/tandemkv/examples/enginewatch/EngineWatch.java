package dev.tandemkv.examples.enginewatch;

import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.catalog.BadRequestException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command line. Exit codes: 0 done; 1 something could not be read, connected to or bound; 2 wrong usage. */
@Command(
        name = "run",
        sortOptions = false,
        usageHelpWidth = 120,
        customSynopsis = {
            "run --fake",
            "       run --connect tcp://HOST:5557 [--replay tcp://HOST:5558] [--ranks N] [OPTIONS]",
            "       run --bind tcp://ADDRESS:PORT --topic NAME [--topic NAME ...] [OPTIONS]",
            "       run --capture FILE [--engine NAME] [--block-size N]",
            "       run fake-engine --help"
        },
        description = {
            "",
            "Connects to the KV events of a running engine (vLLM, SGLang) and shows live what its cache holds.",
            ""
        },
        subcommands = FakeEngineCommand.class,
        footer = {
            "",
            "An engine publishes when told to: vLLM with --kv-events-config '{\"enable_kv_cache_events\": true,",
            "\"publisher\": \"zmq\", \"endpoint\": \"tcp://*:5557\", \"replay_endpoint\": \"tcp://*:5558\"}'; SGLang likewise. With N ranks",
            "the two ports are at least N apart.",
            "",
            "With --capture, standard output is the events alone, one JSON object a line; problems go to standard error.",
            "",
            "Exit codes: 0 done; 1 something could not be read, connected to or bound; 2 wrong usage."
        })
public final class EngineWatch implements Callable<Integer> {

    @Option(names = "--fake", description = "Watches a fake engine in this process: a look without a GPU.")
    private boolean fake;

    @Option(
            names = "--connect",
            paramLabel = "ENDPOINT",
            description = "Where the engine publishes. Rank r of a data-parallel engine is at this port + r.")
    private @Nullable String connect;

    @Option(
            names = "--replay",
            paramLabel = "ENDPOINT",
            description = {
                "Where it answers replay requests, port + r as well. Without, nothing that was cached",
                "before is known and no lost event comes back."
            })
    private @Nullable String replay;

    @Option(
            names = "--ranks",
            paramLabel = "N",
            defaultValue = "1",
            description = "Data-parallel ranks of the engine. Default: ${DEFAULT-VALUE}.")
    private int ranks;

    @Option(
            names = "--bind",
            paramLabel = "ENDPOINT",
            description = "Binds an endpoint to which engines connect that are told apart by --topic.")
    private @Nullable String bind;

    @Option(
            names = "--topic",
            paramLabel = "NAME",
            description = {
                "Whole topic of the publisher, e.g. kv@pod-1@model. With --bind once per engine, in the",
                "order of the workers on the screen; with --connect at most once. Default: any."
            })
    private List<String> topics = new ArrayList<>();

    @Option(
            names = "--engine",
            paramLabel = "NAME",
            description = {
                "vllm, sglang, tensorrt-llm or unknown: how to count blocks announced twice.",
                "Default: vllm; with --capture as the file's name begins."
            })
    private @Nullable String engine;

    @Option(
            names = "--block-size",
            paramLabel = "N",
            description = {
                "Tokens of a block, as the engine is configured (SGLang: page size). Default: 16;",
                "with --capture that of each source's first store."
            })
    private @Nullable Integer blockSize;

    @Option(names = "--eagle", description = "The engine's blocks cover one token more (SGLang's bigram pages).")
    private boolean eagle;

    @Option(
            names = "--first-sequence",
            paramLabel = "N",
            defaultValue = "0",
            description = "Number of a publisher's first batch, 0 or 1. Default: ${DEFAULT-VALUE}.")
    private int firstSequence;

    @Option(
            names = "--prompt",
            paramLabel = "FILE",
            description = "Shows how much of this prompt each rank holds: token ids, separated by anything.")
    private @Nullable Path prompt;

    @Option(names = "--lora", paramLabel = "NAME", description = "Adapter of the prompt.")
    private @Nullable String lora;

    @Option(names = "--salt", paramLabel = "TEXT", description = "Cache salt of the prompt.")
    private @Nullable String salt;

    @Option(
            names = "--every",
            paramLabel = "SECONDS",
            defaultValue = "1",
            description = "How often the screen is drawn. Default: ${DEFAULT-VALUE}.")
    private double every;

    @Option(names = "--for", paramLabel = "SECONDS", description = "Ends after that time. Default: at Ctrl-C.")
    private @Nullable Double duration;

    @Option(
            names = "--capture",
            paramLabel = "FILE",
            description = {
                "Reads captured frames (JSON lines, plain or gzip) instead of a socket and prints events:",
                "{\"worker\", \"rank\", \"sequence\", \"type\", \"tier\", \"ownership\"?, \"parent\"?,",
                "\"blocks\": [[ext, local], ...], \"hashes\": [ext, ...]}, worker = the line's source."
            })
    private @Nullable Path capture;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this text.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean help;

    private final PrintWriter out;
    private final PrintWriter err;
    private final boolean terminal;

    EngineWatch(PrintWriter out, PrintWriter err, boolean terminal) {
        this.out = out;
        this.err = err;
        this.terminal = terminal;
    }

    /** Runs and exits. */
    public static void main(String[] args) {
        // The script knows; a console is there on newer JDKs also where the output goes into a file.
        boolean terminal = Boolean.getBoolean("enginewatch.terminal");
        boolean capture = Arrays.stream(args).anyMatch(arg -> arg.startsWith("--capture"));
        if (terminal || capture) {
            // The screen and the report of a capture say what the log would.
            System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
        }
        PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        int code = run(out, err, terminal, args);
        out.flush();
        System.exit(code);
    }

    /** As {@link #main}, with the streams given and the exit code returned. */
    static int run(PrintWriter out, PrintWriter err, boolean terminal, String... args) {
        return new CommandLine(new EngineWatch(out, err, terminal), new Subcommands(out, err))
                .setOut(out)
                .setErr(err)
                .setParameterExceptionHandler((wrong, arguments) -> misused(wrong.getMessage(), err))
                .setExecutionExceptionHandler((failure, command, parsed) -> failed(failure, err))
                .execute(args);
    }

    private static int misused(@Nullable String message, PrintWriter err) {
        err.println("engine-watch: " + message);
        err.println("run --help tells the options.");
        return CommandLine.ExitCode.USAGE;
    }

    private static int failed(Exception failure, PrintWriter err) throws Exception {
        if (failure instanceof UsageException) {
            return misused(failure.getMessage(), err);
        }
        if (failure instanceof AccessDeniedException) {
            err.println("engine-watch: may not be read: " + failure.getMessage());
        } else if (failure instanceof NoSuchFileException) {
            err.println("engine-watch: no such file: " + failure.getMessage());
        } else if (failure instanceof IOException || failure instanceof BadRequestException) {
            err.println("engine-watch: " + failure.getMessage());
        } else {
            throw failure;
        }
        return CommandLine.ExitCode.SOFTWARE;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        int modes = (fake ? 1 : 0) + (connect == null ? 0 : 1) + (bind == null ? 0 : 1) + (capture == null ? 0 : 1);
        UsageException.require(modes == 1, "--fake, --connect, --bind, --capture", modes + " of them", "exactly one");
        UsageException.require(blockSize == null || blockSize >= 1, "--block-size", blockSize, ">= 1");
        if (capture != null) {
            return printCapture(capture) ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
        }
        UsageException.require(ranks >= 1 && ranks <= 1_024, "--ranks", ranks, "1 to 1024");
        UsageException.require(every >= 0.01, "--every", every, ">= 0.01");
        UsageException.require(duration == null || duration > 0, "--for", duration, "> 0");
        UsageException.require(firstSequence == 0 || firstSequence == 1, "--first-sequence", firstSequence, "0 or 1");
        UsageException.require(bind == null || !topics.isEmpty(), "--topic", "none", "at least one with --bind");
        UsageException.require(
                bind != null || topics.size() <= 1, "--topic", topics.size() + " times", "at most once without --bind");
        UsageException.require(bind == null || ranks == 1, "--ranks", ranks, "1 with --bind");
        UsageException.require(connect != null || replay == null, "--replay", replay, "only with --connect");
        watch();
        return CommandLine.ExitCode.OK;
    }

    private boolean printCapture(Path file) throws IOException {
        EngineFamily family = engine != null ? family(engine) : familyOf(file);
        Geometry told = blockSize == null ? null : new Geometry(blockSize, eagle ? 1 : 0);
        try {
            return new CaptureRun(new CaptureFile(file), family, told, out, err).run();
        } finally {
            out.flush();
        }
    }

    private static EngineFamily familyOf(Path file) {
        String name = String.valueOf(file.getFileName());
        return Arrays.stream(EngineFamily.values())
                .filter(family -> name.startsWith(Names.of(family)))
                .findFirst()
                .orElse(EngineFamily.UNKNOWN);
    }

    private EngineFamily family(String name) {
        Optional<EngineFamily> family = Arrays.stream(EngineFamily.values())
                .filter(each -> Names.of(each).equals(name))
                .findFirst();
        UsageException.require(family.isPresent(), "--engine", name, "vllm, sglang, tensorrt-llm or unknown");
        return family.orElse(EngineFamily.UNKNOWN);
    }

    private void watch() throws IOException, InterruptedException {
        Geometry geometry = new Geometry(blockSize == null ? Geometry.USUAL.blockSize() : blockSize, eagle ? 1 : 0);
        int[] tokens = prompt == null ? null : PromptFile.read(prompt);
        LiveWatch.Settings settings = new LiveWatch.Settings(
                engine == null ? EngineFamily.VLLM : family(engine),
                geometry,
                firstSequence,
                tokens == null ? null : new LiveWatch.Prompt(tokens, lora, salt),
                every,
                duration);
        if (fake) {
            try (FakeFleet fleet = FakeFleet.start(FakeFleet.Settings.forDemo(ranks, geometry.blockSize()))) {
                LiveWatch.Settings shown = tokens != null
                        ? settings
                        : settings.withPrompt(new LiveWatch.Prompt(fleet.systemPrompt(), null, null));
                err.println("watching a fake engine; every now and then something goes wrong on the wire");
                fleet.misbehaveNowAndThen();
                new LiveWatch(fleet.targets(), null, shown, new Screen(out, terminal)).run();
            }
        } else {
            new LiveWatch(targets(), endpoint("--bind", bind, 0), settings, new Screen(out, terminal)).run();
        }
    }

    private List<LiveWatch.Target> targets() {
        List<LiveWatch.Target> targets = new ArrayList<>();
        if (bind != null) {
            for (int i = 0; i < topics.size(); i++) {
                targets.add(new LiveWatch.Target(i, 0, null, null, topics.get(i)));
            }
            return targets;
        }
        String topic = topics.isEmpty() ? null : topics.get(0);
        for (int rank = 0; rank < ranks; rank++) {
            targets.add(new LiveWatch.Target(
                    0, rank, endpoint("--connect", connect, rank), endpoint("--replay", replay, rank), topic));
        }
        return targets;
    }

    private static @Nullable String endpoint(String option, @Nullable String base, int rank) {
        return base == null ? null : Endpoints.ofRank(option, base, rank);
    }

    /** Makes the subcommand with the streams of this one. */
    private record Subcommands(PrintWriter out, PrintWriter err) implements CommandLine.IFactory {
        @Override
        public <K> K create(Class<K> type) throws Exception {
            return type == FakeEngineCommand.class
                    ? type.cast(new FakeEngineCommand(out, err))
                    : CommandLine.defaultFactory().create(type);
        }
    }
}

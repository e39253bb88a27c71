package dev.tandemkv.examples.quickstart;

import dev.tandemkv.testkit.trace.TraceFormatException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command line of the demo. Exit codes: 0 done; 1 a file could not be read or written; 2 wrong usage. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = false,
        sortOptions = false,
        usageHelpWidth = 110,
        description = {
            "Replays a request trace through every routing policy, in virtual time and with the production code:",
            "through aggregated workers, and through prefill and decode workers in both orders.",
            ""
        },
        footer = {
            "",
            "Prints one table and one decision explained, and writes a self-contained HTML report.",
            "The same seed gives the same output, report and JSON, byte for byte, but for the wallMs of the JSON:",
            "that is the measured time of each run.",
            "",
            "Exit codes: 0 done, 1 a file could not be read or written, 2 wrong usage."
        })
public final class Quickstart implements Callable<Integer> {

    private static final String DEFAULT_REPORT = "${sys:quickstart.report:-tandemkv-report.html}";

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = "--trace",
            paramLabel = "FILE",
            description = {
                "Trace to replay, gzip or plain: Mooncake or Bailian JSON Lines, or Azure CSV.",
                "Default: the first 1,000 requests of Mooncake's conversation trace, which ship with the demo."
            })
    private @Nullable Path trace;

    @Option(
            names = "--cache-blocks",
            paramLabel = "N",
            defaultValue = "16384",
            description =
                    "KV cache of each worker, in blocks of 512 tokens. Default: ${DEFAULT-VALUE}; 901 is the GPUs alone.")
    private int cacheBlocks;

    @Option(
            names = "--rate",
            paramLabel = "X",
            defaultValue = "1.0",
            description = "How many times as fast as recorded requests arrive. Default: ${DEFAULT-VALUE}.")
    private double rate;

    @Option(
            names = "--workers",
            paramLabel = "N",
            defaultValue = "8",
            description = {
                "Workers of the fleet, at least 2; five eighths of them prefill where the two are apart.",
                "Default: ${DEFAULT-VALUE}."
            })
    private int workers;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "42",
            description = "What ties are broken by. Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Option(names = "--json", paramLabel = "FILE", description = "Also writes the results for programs.")
    private @Nullable Path json;

    @Option(
            names = "--report",
            paramLabel = "FILE",
            defaultValue = DEFAULT_REPORT,
            description = {"Where the HTML report goes. Default:", "${DEFAULT-VALUE}"})
    private Path report = Path.of("tandemkv-report.html");

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this text.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean help;

    private final PrintWriter out;
    private final PrintWriter err;

    Quickstart(PrintWriter out, PrintWriter err) {
        this.out = out;
        this.err = err;
    }

    /** Runs the demo and exits. */
    public static void main(String[] args) {
        PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        System.exit(run(out, err, args));
    }

    /** As {@link #main}, with the streams given and the exit code returned. */
    static int run(PrintWriter out, PrintWriter err, String... args) {
        return new CommandLine(new Quickstart(out, err))
                .setOut(out)
                .setErr(err)
                .setExecutionExceptionHandler((failure, command, parsed) -> failed(failure, err))
                .execute(args);
    }

    private static int failed(Exception failure, PrintWriter err) throws Exception {
        if (failure instanceof TraceFormatException) {
            err.println("demo: bad trace: " + failure.getMessage());
        } else if (failure instanceof NoSuchFileException) {
            err.println("demo: no such file: " + failure.getMessage());
        } else if (failure instanceof IOException) {
            err.println("demo: " + failure);
        } else {
            throw failure;
        }
        return CommandLine.ExitCode.SOFTWARE;
    }

    @Override
    public Integer call() throws IOException {
        require(cacheBlocks >= 1, "--cache-blocks", cacheBlocks, ">= 1");
        require(rate > 0 && Double.isFinite(rate), "--rate", rate, "> 0");
        require(workers >= 2 && workers <= 1_024, "--workers", workers, "2 to 1024");
        new Demo(new Demo.Settings(trace, cacheBlocks, rate, workers, seed), out, err).run(report, json);
        return CommandLine.ExitCode.OK;
    }

    private void require(boolean holds, String option, Object value, String expected) {
        if (!holds && spec != null) {
            throw new ParameterException(spec.commandLine(), option + ": " + value + " (expected: " + expected + ")");
        }
    }
}

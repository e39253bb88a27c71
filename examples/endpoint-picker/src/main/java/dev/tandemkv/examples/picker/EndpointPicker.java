package dev.tandemkv.examples.picker;

import dev.tandemkv.adapters.extproc.PickerObserver;
import dev.tandemkv.catalog.BadRequestException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The command line. Exit codes: 0 done; 1 the port is taken, or the quickstart failed; 2 wrong usage or setting. */
@Command(
        name = "run",
        sortOptions = false,
        usageHelpWidth = 120,
        customSynopsis = {
            "run --workers-file FILE --model-name NAME --kv-cache-block-size N --tokenizer-service-url URL [OPTIONS]",
            "       run --inference-pool-name NAME --namespace NAME --model-name NAME ... [OPTIONS]",
            "       run quickstart --help"
        },
        description = {"", "An endpoint picker for Envoy: an external processor over gRPC.", ""},
        footer = {
            "",
            "Each option may be given by the variable it names. The router's own settings are variables only:",
            "DYN_ROUTER_TEMPERATURE, DYN_ROUTER_QUEUE_THRESHOLD, DYN_ROUTER_USE_KV_EVENTS, ... as the selection service's.",
            "",
            "Exit codes: 0 done; 1 the port is taken; 2 wrong usage or setting."
        })
public final class EndpointPicker implements Callable<Integer> {

    @Mixin
    private Options options = new Options();

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this text.")
    @SuppressWarnings("UnusedVariable") // picocli acts on it
    private boolean help;

    private final Map<String, String> environment;
    private final PrintWriter out;
    private final PrintWriter err;

    private EndpointPicker(Map<String, String> environment, PrintWriter out, PrintWriter err) {
        this.environment = environment;
        this.out = out;
        this.err = err;
    }

    /** Runs and exits. */
    public static void main(String[] args) {
        PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        System.exit(run(out, err, System.getenv(), args));
    }

    /** As {@link #main}, with the surroundings given and the exit code returned. */
    static int run(PrintWriter out, PrintWriter err, Map<String, String> environment, String... args) {
        CommandLine command = new CommandLine(new EndpointPicker(environment, out, err))
                .addSubcommand(new Quickstart(environment, out));
        return Environment.under(environment, command)
                .setOut(out)
                .setErr(err)
                .setParameterExceptionHandler((wrong, arguments) -> misused(wrong, environment, err))
                .setExecutionExceptionHandler((failure, misled, parsed) -> failed(failure, misled, environment, err))
                .execute(args);
    }

    private static int misused(ParameterException wrong, Map<String, String> environment, PrintWriter err) {
        String variable = wrong.getArgSpec() == null ? null : Environment.variableOf(wrong.getArgSpec());
        boolean bySurroundings = variable != null && environment.containsKey(variable);
        err.println("endpoint-picker: " + (bySurroundings ? variable + ": " : "") + wrong.getMessage());
        err.println("run --help tells the settings.");
        return CommandLine.ExitCode.USAGE;
    }

    private static int failed(Exception failure, CommandLine command, Map<String, String> environment, PrintWriter err)
            throws Exception {
        if (failure instanceof BadRequestException wrong) {
            err.println("endpoint-picker: " + variable(wrong.field(), command, environment) + wrong.getMessage());
            err.println("run --help tells the settings.");
            return CommandLine.ExitCode.USAGE;
        }
        if (failure instanceof IOException) {
            err.println("endpoint-picker: " + failure.getMessage());
            return CommandLine.ExitCode.SOFTWARE;
        }
        throw failure;
    }

    /** Names the variable that an option's value came from, as a beginning of a message; empty if it came from elsewhere. */
    private static String variable(String option, CommandLine command, Map<String, String> environment) {
        OptionSpec spec = command.getCommandSpec().findOption(option);
        if (spec == null || command.getParseResult().hasMatchedOption(option)) {
            return "";
        }
        String variable = Environment.variableOf(spec);
        return variable != null && environment.containsKey(variable) ? variable + ": " : "";
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        try (Assembly picker = start(err, environment, options)) {
            Runtime.getRuntime().addShutdownHook(new Thread(picker::close));
            out.println("endpoint picker listens on " + options.host + ':' + picker.port());
            picker.await();
        }
        return CommandLine.ExitCode.OK;
    }

    /** Tells of settings that do nothing. */
    static Assembly start(PrintWriter err, Map<String, String> environment, Options options) throws IOException {
        Assembly picker = Assembly.start(options, environment, PickerObserver.none());
        picker.withoutEffect().forEach(setting -> err.println("without effect: " + setting));
        return picker;
    }
}

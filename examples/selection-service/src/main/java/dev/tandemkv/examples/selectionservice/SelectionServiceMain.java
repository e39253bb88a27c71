package dev.tandemkv.examples.selectionservice;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.selection.config.SelectionConfigReader;
import dev.tandemkv.testkit.engine.http.HttpEngine;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;

/** The command line. Exit codes: 0 done; 1 the address cannot be had, or the quickstart failed; 2 wrong usage or setting. */
public final class SelectionServiceMain {

    private static final int FAILED = 1;
    private static final int USAGE = 2;

    private SelectionServiceMain() {}

    /** Runs the service until the process is told to end. */
    public static void main(String[] arguments) {
        int exit = run(System.out, System.err, System.getenv(), List.of(arguments));
        if (exit != 0) {
            System.exit(exit);
        }
    }

    /** As {@link #main}, with the surroundings given and the exit code returned; a service that was started goes on behind it. */
    static int run(PrintStream out, PrintStream err, Map<String, String> environment, List<String> arguments) {
        if (arguments.contains("--help")) {
            help(out);
            return 0;
        }
        try {
            String mode = arguments.isEmpty() ? "" : arguments.get(0);
            switch (mode) {
                case "quickstart" -> {
                    try (Quickstart quickstart = new Quickstart(out)) {
                        quickstart.run(behind(arguments), environment);
                    }
                }
                case "engine" -> serveEngine(out, behind(arguments));
                case "index" -> serveIndex(out, err, environment, behind(arguments));
                default -> serve(out, err, environment, arguments);
            }
            return 0;
        } catch (BadRequestException e) {
            err.println(e.getMessage());
            err.println("run --help tells the settings.");
            return USAGE;
        } catch (IOException | UncheckedIOException e) {
            err.println(e.getMessage());
            return FAILED;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return FAILED;
        }
    }

    private static List<String> behind(List<String> arguments) {
        return arguments.subList(1, arguments.size());
    }

    private static void serve(
            PrintStream out, PrintStream err, Map<String, String> environment, List<String> arguments) {
        Assembly service = start(err, environment, arguments);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(service, out)));
        out.println("selection service listens on " + service.address());
    }

    static Assembly start(PrintStream err, Map<String, String> environment, List<String> arguments) {
        Assembly service = Assembly.start(arguments, environment);
        tell(err, service.withoutEffect());
        return service;
    }

    private static void serveIndex(
            PrintStream out, PrintStream err, Map<String, String> environment, List<String> arguments) {
        IndexAssembly service = startIndex(err, environment, arguments);
        Runtime.getRuntime().addShutdownHook(new Thread(service::close));
        out.println("index service listens on " + service.address());
    }

    static IndexAssembly startIndex(PrintStream err, Map<String, String> environment, List<String> arguments) {
        IndexAssembly service = IndexAssembly.start(arguments, environment);
        tell(err, service.withoutEffect());
        return service;
    }

    private static void tell(PrintStream err, List<String> withoutEffect) {
        withoutEffect.forEach(setting -> err.println("without effect: " + setting));
    }

    private static void serveEngine(PrintStream out, List<String> arguments) throws IOException {
        FakeEngines engines = FakeEngines.open();
        try {
            HttpEngine engine = FakeEngines.ofArguments(engines, arguments);
            Runtime.getRuntime().addShutdownHook(new Thread(engines::close));
            out.println("fake engine listens on " + engine.address() + ", as a worker: " + engine.worker());
        } catch (IOException | RuntimeException e) {
            engines.close();
            throw e;
        }
    }

    private static void end(Assembly service, PrintStream out) {
        service.close();
        long open = service.openAtEnd().stream()
                .flatMap(partition -> partition.loads().stream())
                .mapToLong(load -> load.activeRequests())
                .sum();
        out.println("ended; open bookings: " + open);
    }

    static void help(PrintStream out) {
        out.println("""
                Usage: run [OPTION...]
                       run quickstart [--engines N] [--stay] [OPTION...]
                       run index [--peers URL,...] [OPTION...]
                       run engine [--port PORT] [--block-size N] [--kv-events-port PORT] [--replay-port PORT]

                The selection service over HTTP. With quickstart it is started together with N fake engines (default 2, at most
                16) on free ports of this machine; the same prompt is routed twice, and what happened is printed. --stay goes on
                until Ctrl-C, for requests of your own.

                With index it is the index service, which follows engines and answers what they hold; its port is 8090 unless told
                otherwise. --peers (TANDEMKV_INDEX_PEERS) names other index services that are asked once for what they know.

                With engine it is a fake engine, to try the service on without a GPU: completions on port 8000, KV events on 5557,
                replays on 5558, blocks of 16 tokens, unless told otherwise.

                  --host ADDRESS            address to listen on; TANDEMKV_HOST; default 127.0.0.1
                  --port PORT               0 takes a free one; TANDEMKV_PORT; default 8092
                  --strict                  refuse unknown request fields; TANDEMKV_STRICT
                  --replica-sync-port PORT  where replicas connect to; TANDEMKV_REPLICA_SYNC_PORT; default: no replicas
                  --workers-file FILE       JSON file of workers, watched: they come and go with it; TANDEMKV_WORKERS_FILE
                  --remote-indexer-url URL  index service to ask, with --use-remote-indexer; TANDEMKV_REMOTE_INDEXER_URL
                  --engine-family NAME      whose KV events the workers publish: vllm, sglang, tensorrt-llm or unknown;
                                            TANDEMKV_ENGINE_FAMILY; default unknown, which never counts too many blocks
                  --help                    shows this text

                Settings of the router, each an option (a flag stands alone, or as --no-...) and, where one is named, a variable.
                An option wins over a variable. Its value stands behind it, or behind an equals sign.
                """);
        for (SelectionConfigReader.SettingName setting : SelectionConfigReader.settings()) {
            out.printf(
                    "  --%-44s %s%s%n",
                    setting.name().replace('_', '-'),
                    setting.expectation(),
                    setting.environment().isEmpty() ? "" : "; " + String.join(", ", setting.environment()));
        }
        out.println();
        out.println(
                "Exit codes: 0 done; 1 the address cannot be had, or the quickstart failed; 2 wrong usage or setting.");
    }
}

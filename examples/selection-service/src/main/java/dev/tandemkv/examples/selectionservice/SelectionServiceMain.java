package dev.tandemkv.examples.selectionservice;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.selection.config.SelectionConfigReader;
import java.io.PrintStream;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;

/** Runs the selection service until the process is told to end. */
public final class SelectionServiceMain {

    private static final int USAGE = 2;

    private SelectionServiceMain() {}

    public static void main(String[] arguments) {
        List<String> given = List.of(arguments);
        if (given.contains("--help")) {
            help(System.out);
            return;
        }
        try {
            Assembly service = Assembly.start(given, System.getenv());
            Runtime.getRuntime().addShutdownHook(new Thread(() -> end(service)));
            System.out.println("selection service listens on port " + service.port());
        } catch (BadRequestException e) {
            System.err.println(e.getMessage());
            System.exit(USAGE);
        } catch (CompletionException e) {
            System.err.println("cannot listen: " + e.getCause());
            System.exit(1);
        }
    }

    private static void end(Assembly service) {
        service.close();
        long open = service.openAtEnd().stream()
                .flatMap(partition -> partition.loads().stream())
                .mapToLong(load -> load.activeRequests())
                .sum();
        System.out.println("ended; open bookings: " + open);
    }

    static void help(PrintStream out) {
        out.println("Usage: run [OPTION...]");
        out.println();
        out.println("  --host ADDRESS         address to listen on; TANDEMKV_HOST; default 127.0.0.1");
        out.println("  --port PORT            0 takes a free one; TANDEMKV_PORT; default 8092");
        out.println("  --strict               refuse unknown request fields; TANDEMKV_STRICT");
        out.println(
                "  --replica-sync-port N  where replicas connect to; TANDEMKV_REPLICA_SYNC_PORT; default: no replicas");
        new TreeMap<>(Assembly.OPTIONS)
                .forEach((name, meaning) -> out.printf("  --%-20s %s%n", name.replace('_', '-'), meaning));
        out.println();
        out.println(
                "Settings of the router, each an option (a flag also as --no-...) and, where one is named, a variable:");
        for (SelectionConfigReader.SettingName setting : SelectionConfigReader.settings()) {
            out.printf(
                    "  --%-44s %s%s%n",
                    setting.name().replace('_', '-'),
                    setting.expectation(),
                    setting.environment().isEmpty() ? "" : "; " + String.join(", ", setting.environment()));
        }
    }
}

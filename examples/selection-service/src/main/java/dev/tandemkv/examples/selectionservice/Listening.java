package dev.tandemkv.examples.selectionservice;

import dev.tandemkv.adapters.http.ServiceSettings;
import dev.tandemkv.selection.config.SelectionConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Where a service listens. */
final class Listening {

    private Listening() {}

    /** {@code host:port}, with brackets around an IPv6 address. */
    static String address(String host, int port) {
        return (host.indexOf(':') >= 0 && !host.startsWith("[") ? '[' + host + ']' : host) + ':' + port;
    }

    /** What a setting asks for and a process of this kind does not do; the core tells of what it leaves out itself. */
    static List<String> withoutEffect(SelectionConfig core) {
        return core.minInitialWorkers() == 0 || core.skipInitialWorkerWait()
                ? List.of()
                : List.of("min_initial_workers: it listens at once, with whichever workers there are");
    }

    /** @throws UncheckedIOException naming the options, if the address cannot be had */
    static <S> S start(ServiceSettings settings, Supplier<CompletionStage<S>> service) {
        try {
            return service.get().toCompletableFuture().join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof IOException cannot) {
                String where = "--host " + settings.host() + " --port " + settings.port();
                throw new UncheckedIOException(where + ": cannot listen there: " + cannot.getMessage(), cannot);
            }
            throw e;
        }
    }
}

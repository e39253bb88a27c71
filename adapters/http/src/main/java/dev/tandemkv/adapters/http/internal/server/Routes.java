package dev.tandemkv.adapters.http.internal.server;

import dev.tandemkv.adapters.http.internal.wire.WireException;
import dev.tandemkv.catalog.SelectionException.Kind;
import io.vertx.core.Context;
import io.vertx.core.http.HttpServerRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Exact paths, at most one part of which is open. A path that is known under other methods is answered 405 with those in {@code allow}; a
 * {@code GET} route answers {@code HEAD} as well. Immutable once built.
 */
public final class Routes {

    /** What a route does. */
    @FunctionalInterface
    public interface Handler {
        void handle(Exchange exchange) throws WireException;
    }

    /** A path before and after its open part; the latter is {@code null} where no part is open. */
    private record Path(String before, @Nullable String after) {

        static Path of(String pattern) {
            int open = pattern.indexOf("{}");
            return open < 0
                    ? new Path(pattern, null)
                    : new Path(pattern.substring(0, open), pattern.substring(open + 2));
        }

        /** The open part, still encoded, or {@code null} if the path is another. */
        @Nullable
        String match(String path) {
            if (after == null) {
                return path.equals(before) ? "" : null;
            }
            int open = path.length() - before.length() - after.length();
            if (open < 0 || !path.startsWith(before) || !path.endsWith(after)) {
                return null;
            }
            String part = path.substring(before.length(), before.length() + open);
            boolean nothingAtTheEnd = part.isEmpty() && after.isEmpty();
            return nothingAtTheEnd || part.indexOf('/') >= 0 ? null : part;
        }
    }

    private record Route(Path path, Map<String, Handler> methods) {}

    private final List<Route> routes = new ArrayList<>();

    /** Adds a route; {@code {}} stands for the open part. */
    public Routes on(String method, String pattern, Handler handler) {
        Path path = Path.of(pattern);
        for (Route route : routes) {
            if (route.path().equals(path)) {
                route.methods().put(method, handler);
                return this;
            }
        }
        Route route = new Route(path, new LinkedHashMap<>());
        route.methods().put(method, handler);
        routes.add(route);
        return this;
    }

    void dispatch(HttpServerRequest request, Context context, Exchange.Terms terms) {
        String path = request.path() == null ? "" : request.path();
        for (Route route : routes) {
            String open = route.path().match(path);
            if (open != null) {
                String part = Query.part(open);
                Exchange exchange = new Exchange(request, context, terms, part == null ? "" : part);
                run(exchange, route, request.method().name(), part != null);
                return;
            }
        }
        new Exchange(request, context, terms, "")
                .refuse(WireException.of(404, Kind.NOT_FOUND, "route: unknown (expected: a known path)"));
    }

    private static void run(Exchange exchange, Route route, String method, boolean readable) {
        Handler handler = route.methods().get(method.equals("HEAD") ? "GET" : method);
        if (handler == null) {
            exchange.answerHeader("allow", allowed(route));
            exchange.refuse(WireException.of(
                    405, Kind.BAD_REQUEST, "method: " + method + " (expected: " + allowed(route) + ")"));
        } else if (!readable) {
            exchange.refuse(WireException.malformed("path: not UTF-8 (expected: percent-encoded UTF-8)"));
        } else {
            exchange.guarded(() -> handler.handle(exchange));
        }
    }

    private static String allowed(Route route) {
        String methods = String.join(",", route.methods().keySet());
        return route.methods().containsKey("GET") ? methods + ",HEAD" : methods;
    }
}

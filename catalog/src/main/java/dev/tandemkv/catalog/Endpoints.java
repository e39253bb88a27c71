package dev.tandemkv.catalog;

import java.net.URI;
import java.net.URISyntaxException;
import org.jspecify.annotations.Nullable;

/** What counts as an address a request can be sent to. */
final class Endpoints {

    private static final int MAX_PORT = 65_535;

    private Endpoints() {}

    /** A URI with scheme and host, or {@code host:port} (an IPv6 host in brackets). */
    static boolean isCallable(String endpoint) {
        return isUriWithHost(endpoint) || isHostAndPort(endpoint);
    }

    private static boolean isUriWithHost(String text) {
        URI uri = parse(text);
        if (uri == null || uri.getScheme() == null) {
            return false;
        }
        return uri.getHost() != null || isNameWithUnderscore(uri.getRawAuthority());
    }

    private static boolean isHostAndPort(String text) {
        URI uri = parse("any://" + text);
        if (uri == null || !uri.getRawPath().isEmpty() || uri.getRawQuery() != null || uri.getRawFragment() != null) {
            return false;
        }
        String authority = uri.getRawAuthority();
        return uri.getHost() != null
                ? isPort(uri.getPort())
                : isNameWithUnderscore(authority) && authority.indexOf(':') > 0;
    }

    /**
     * Container runtimes give names with underscores, which the DNS resolves and {@link URI} takes for no host.
     *
     * @param authority {@code name} or {@code name:port}
     */
    private static boolean isNameWithUnderscore(@Nullable String authority) {
        if (authority == null) {
            return false;
        }
        int colon = authority.indexOf(':');
        String name = colon < 0 ? authority : authority.substring(0, colon);
        return name.matches("[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
                && (colon < 0 || isPort(authority.substring(colon + 1)));
    }

    private static boolean isPort(String text) {
        return text.matches("[0-9]{1,5}") && isPort(Integer.parseInt(text));
    }

    private static boolean isPort(int port) {
        return port > 0 && port <= MAX_PORT;
    }

    private static @Nullable URI parse(String text) {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            return null;
        }
    }
}

package dev.tandemkv.catalog;

import java.net.URI;
import java.net.URISyntaxException;

/** What counts as an address a request can be sent to. */
final class Endpoints {

    private Endpoints() {}

    /** A URI with scheme and host, or {@code host:port} (an IPv6 host in brackets). */
    static boolean isCallable(String endpoint) {
        return isUriWithHost(endpoint) || isUriWithHostAndPort("any://" + endpoint);
    }

    private static boolean isUriWithHost(String text) {
        URI uri = parse(text);
        return uri != null && uri.getScheme() != null && uri.getHost() != null;
    }

    private static boolean isUriWithHostAndPort(String text) {
        URI uri = parse(text);
        return uri != null
                && uri.getHost() != null
                && uri.getPort() > 0
                && uri.getPort() <= 65_535
                && uri.getRawPath().isEmpty();
    }

    private static @org.jspecify.annotations.Nullable URI parse(String text) {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            return null;
        }
    }
}

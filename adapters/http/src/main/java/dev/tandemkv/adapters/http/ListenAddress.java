package dev.tandemkv.adapters.http;

import java.util.Objects;

/**
 * Where a service listens.
 *
 * @param host name or address
 * @param port 0 takes any free port
 */
record ListenAddress(String host, int port) {

    ListenAddress {
        Objects.requireNonNull(host, "host");
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port: " + port + " (expected: 0 to 65535)");
        }
    }

    /** Nobody but this machine reaches it: there is no TLS and no authentication here. */
    static ListenAddress loopback(int port) {
        return new ListenAddress("127.0.0.1", port);
    }

    ListenAddress withHost(String other) {
        return new ListenAddress(other, port);
    }

    ListenAddress withPort(int other) {
        return new ListenAddress(host, other);
    }
}

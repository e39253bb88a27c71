package dev.tandemkv.adapters.http;

import java.time.Duration;

/**
 * What a service takes from one client, so that a bad one harms itself only. A client is a remote address.
 *
 * @param maxBodyBytes largest request body; above it 413; 1 KiB to 1 GiB, default 8 MiB
 * @param bodyTimeout longest time from a request's head to the end of its body; above it 408 and the end of the connection, by HTTP/2 of the stream
 *     alone; above 0, default 30 s
 * @param maxReservationsPerClient live bookings of one client; above it 429; at least 1, default 65,536
 * @param shutdownGrace how long an orderly shutdown waits for answers that are under way; at least 0, default 5 s
 */
public record HttpLimits(int maxBodyBytes, Duration bodyTimeout, int maxReservationsPerClient, Duration shutdownGrace) {

    public static final HttpLimits DEFAULTS =
            new HttpLimits(8 * 1024 * 1024, Duration.ofSeconds(30), 65_536, Duration.ofSeconds(5));

    private static final int LEAST_BODY = 1024;
    private static final int MOST_BODY = 1024 * 1024 * 1024;

    public HttpLimits {
        if (maxBodyBytes < LEAST_BODY || maxBodyBytes > MOST_BODY) {
            throw new IllegalArgumentException("maxBodyBytes: " + maxBodyBytes + " (expected: 1 KiB to 1 GiB)");
        }
        if (bodyTimeout.isNegative() || bodyTimeout.isZero()) {
            throw new IllegalArgumentException("bodyTimeout: " + bodyTimeout + " (expected: above 0)");
        }
        if (maxReservationsPerClient < 1) {
            throw new IllegalArgumentException(
                    "maxReservationsPerClient: " + maxReservationsPerClient + " (expected: >= 1)");
        }
        if (shutdownGrace.isNegative()) {
            throw new IllegalArgumentException("shutdownGrace: " + shutdownGrace + " (expected: >= 0)");
        }
    }

    public HttpLimits withMaxBodyBytes(int bytes) {
        return new HttpLimits(bytes, bodyTimeout, maxReservationsPerClient, shutdownGrace);
    }

    public HttpLimits withBodyTimeout(Duration timeout) {
        return new HttpLimits(maxBodyBytes, timeout, maxReservationsPerClient, shutdownGrace);
    }

    public HttpLimits withMaxReservationsPerClient(int reservations) {
        return new HttpLimits(maxBodyBytes, bodyTimeout, reservations, shutdownGrace);
    }

    public HttpLimits withShutdownGrace(Duration grace) {
        return new HttpLimits(maxBodyBytes, bodyTimeout, maxReservationsPerClient, grace);
    }
}

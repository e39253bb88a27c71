package dev.tandemkv.adapters.extproc;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * Limits and header names of a picker. Immutable; built by {@link #builder()}.
 *
 * @param maxInFlight requests between their headers and their decision; more are refused with 429. Default 1,024
 * @param maxBodyBytes largest request body; a larger one is refused with 413. Default 16 MiB
 * @param maxBufferedBytes bytes of all request bodies that the picker holds at once, until the proxy has taken them back; a request that would
 *     take them above it is refused with 429. At least {@code maxBodyBytes}. Default 128 MiB
 * @param maxHeaderBytes all request headers together; more are refused with 431. Default 64 KiB
 * @param bodyTimeout how long a body may take from its request's headers to its end; a slower one is refused with 408. Default 60 s
 * @param tokenizationTimeout how long a tokenizer may take. Default 5 s
 * @param lease lease of bookings that a pool owns by id: renewed every third of it. Default 300 s
 * @param clientHeaders whether clients may route by header. Default {@link ClientHeaders#STRIPPED}
 * @param sessionHeaders headers that name the session, the first present one counts. Default {@code x-dynamo-session-id, x-dynamo-session-affinity-id}
 */
public record PickerSettings(
        int maxInFlight,
        int maxBodyBytes,
        long maxBufferedBytes,
        int maxHeaderBytes,
        Duration bodyTimeout,
        Duration tokenizationTimeout,
        Duration lease,
        ClientHeaders clientHeaders,
        List<String> sessionHeaders) {

    /** What becomes of routing and priority headers that a client sends. */
    public enum ClientHeaders {
        /** Ignored, and removed before the request goes on. */
        STRIPPED,
        /** A pin and a priority count; the headers that go on are the picker's own all the same. */
        TRUSTED
    }

    /** The defaults. */
    public static final PickerSettings DEFAULT = builder().build();

    public PickerSettings {
        requirePositive("maxInFlight", maxInFlight);
        requirePositive("maxBodyBytes", maxBodyBytes);
        if (maxBufferedBytes < maxBodyBytes) {
            throw new IllegalArgumentException("maxBufferedBytes: " + maxBufferedBytes
                    + " (expected: >= maxBodyBytes, which is " + maxBodyBytes + ")");
        }
        requirePositive("maxHeaderBytes", maxHeaderBytes);
        requirePositive("bodyTimeout", bodyTimeout);
        requirePositive("tokenizationTimeout", tokenizationTimeout);
        requirePositive("lease", lease);
        Objects.requireNonNull(clientHeaders, "clientHeaders");
        for (String header : sessionHeaders) {
            if (header.isEmpty() || !header.equals(header.toLowerCase(Locale.ROOT))) {
                throw new IllegalArgumentException("sessionHeaders: '" + header + "' (expected: a lower-case name)");
            }
        }
        sessionHeaders = List.copyOf(sessionHeaders);
    }

    private static void requirePositive(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= 1)");
        }
    }

    private static void requirePositive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: positive)");
        }
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Collects the components of {@link PickerSettings}; not thread-safe. */
    public static final class Builder {
        private int maxInFlight = 1024;
        private int maxBodyBytes = 16 << 20;
        private long maxBufferedBytes = 128L << 20;
        private int maxHeaderBytes = 64 << 10;
        private Duration bodyTimeout = Duration.ofSeconds(60);
        private Duration tokenizationTimeout = Duration.ofSeconds(5);
        private Duration lease = Duration.ofMinutes(5);
        private ClientHeaders clientHeaders = ClientHeaders.STRIPPED;
        private List<String> sessionHeaders = List.of("x-dynamo-session-id", "x-dynamo-session-affinity-id");

        private Builder() {}

        public Builder maxInFlight(int maxInFlight) {
            this.maxInFlight = maxInFlight;
            return this;
        }

        public Builder maxBodyBytes(int maxBodyBytes) {
            this.maxBodyBytes = maxBodyBytes;
            return this;
        }

        public Builder maxBufferedBytes(long maxBufferedBytes) {
            this.maxBufferedBytes = maxBufferedBytes;
            return this;
        }

        public Builder maxHeaderBytes(int maxHeaderBytes) {
            this.maxHeaderBytes = maxHeaderBytes;
            return this;
        }

        public Builder bodyTimeout(Duration bodyTimeout) {
            this.bodyTimeout = Objects.requireNonNull(bodyTimeout, "bodyTimeout");
            return this;
        }

        public Builder tokenizationTimeout(Duration tokenizationTimeout) {
            this.tokenizationTimeout = Objects.requireNonNull(tokenizationTimeout, "tokenizationTimeout");
            return this;
        }

        public Builder lease(Duration lease) {
            this.lease = Objects.requireNonNull(lease, "lease");
            return this;
        }

        public Builder clientHeaders(ClientHeaders clientHeaders) {
            this.clientHeaders = clientHeaders;
            return this;
        }

        public Builder sessionHeaders(List<String> sessionHeaders) {
            this.sessionHeaders = sessionHeaders;
            return this;
        }

        public PickerSettings build() {
            return new PickerSettings(
                    maxInFlight,
                    maxBodyBytes,
                    maxBufferedBytes,
                    maxHeaderBytes,
                    bodyTimeout,
                    tokenizationTimeout,
                    lease,
                    clientHeaders,
                    sessionHeaders);
        }
    }
}

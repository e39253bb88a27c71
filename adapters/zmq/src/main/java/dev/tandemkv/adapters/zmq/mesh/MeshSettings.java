package dev.tandemkv.adapters.zmq.mesh;

import java.time.Duration;
import java.util.Objects;

/**
 * The knobs of a replica mesh. Immutable.
 *
 * @param bind where peers connect to, for example {@code tcp://10.0.0.7:9092}; no default. {@code tcp://127.0.0.1:*} takes any free port
 * @param outboundBookings messages about bookings that may wait to be sent; default 100,000
 * @param outboundSessions messages about sessions that may wait to be sent; default 4,096
 * @param highWater messages that may wait for one peer in the sockets, on either side; default 100,000
 * @param maxMessageBytes longer messages are refused by the socket, which then reconnects; default 32 MiB
 * @param maxPeers peers listened to at once; default 1,024
 * @param heartbeat how often a silent connection is asked whether it lives; after three of them without an answer it is made anew; default
 *     10 s
 * @param reconnectMin first wait before a lost connection is made anew; default 100 ms
 * @param reconnectMax longest wait; it doubles up to that; default 10 s
 * @param farewell how long what was sent last may take to leave when the mesh is closed, which waits for it; default 500 ms
 */
public record MeshSettings(
        String bind,
        int outboundBookings,
        int outboundSessions,
        int highWater,
        int maxMessageBytes,
        int maxPeers,
        Duration heartbeat,
        Duration reconnectMin,
        Duration reconnectMax,
        Duration farewell) {

    /** @throws IllegalArgumentException if a bound is below 1 or a duration below 1 ms */
    public MeshSettings {
        Objects.requireNonNull(bind, "bind");
        requirePositive("outboundBookings", outboundBookings);
        requirePositive("outboundSessions", outboundSessions);
        requirePositive("highWater", highWater);
        requirePositive("maxMessageBytes", maxMessageBytes);
        requirePositive("maxPeers", maxPeers);
        requireMillis("heartbeat", heartbeat);
        requireMillis("reconnectMin", reconnectMin);
        requireMillis("reconnectMax", reconnectMax);
        requireMillis("farewell", farewell);
    }

    private static void requirePositive(String field, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(field + ": " + value + " (expected: >= 1)");
        }
    }

    private static void requireMillis(String field, Duration value) {
        if (value.toMillis() < 1 || value.compareTo(Duration.ofHours(1)) > 0) {
            throw new IllegalArgumentException(field + ": " + value + " (expected: 1 ms to 1 h)");
        }
    }

    /** All defaults, bound to an endpoint. */
    public static MeshSettings at(String bind) {
        return builder(bind).build();
    }

    /** Starts from the defaults. */
    public static Builder builder(String bind) {
        return new Builder(bind);
    }

    /** Sets what differs from the defaults. Not thread-safe. */
    public static final class Builder {
        private final String bind;
        private int outboundBookings = 100_000;
        private int outboundSessions = 4_096;
        private int highWater = 100_000;
        private int maxMessageBytes = 32 << 20;
        private int maxPeers = 1_024;
        private Duration heartbeat = Duration.ofSeconds(10);
        private Duration reconnectMin = Duration.ofMillis(100);
        private Duration reconnectMax = Duration.ofSeconds(10);
        private Duration farewell = Duration.ofMillis(500);

        private Builder(String bind) {
            this.bind = bind;
        }

        public Builder outboundBookings(int messages) {
            outboundBookings = messages;
            return this;
        }

        public Builder outboundSessions(int messages) {
            outboundSessions = messages;
            return this;
        }

        public Builder highWater(int messages) {
            highWater = messages;
            return this;
        }

        public Builder maxMessageBytes(int bytes) {
            maxMessageBytes = bytes;
            return this;
        }

        public Builder maxPeers(int peers) {
            maxPeers = peers;
            return this;
        }

        public Builder heartbeat(Duration value) {
            heartbeat = value;
            return this;
        }

        public Builder reconnect(Duration min, Duration max) {
            reconnectMin = min;
            reconnectMax = max;
            return this;
        }

        public Builder farewell(Duration value) {
            farewell = value;
            return this;
        }

        /** @throws IllegalArgumentException as {@link MeshSettings#MeshSettings} says */
        public MeshSettings build() {
            return new MeshSettings(
                    bind,
                    outboundBookings,
                    outboundSessions,
                    highWater,
                    maxMessageBytes,
                    maxPeers,
                    heartbeat,
                    reconnectMin,
                    reconnectMax,
                    farewell);
        }
    }
}

package dev.tandemkv.adapters.zmq;

import dev.tandemkv.adapters.enginewire.WireLimits;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The knobs of an ingress. Immutable.
 *
 * @param limits what a payload may contain; longer frames are refused by the socket, which then reconnects
 * @param receiveHighWater messages of one subscription that may wait in its socket; more are dropped by the engine's side, show as a gap and
 *     are replayed; default 100,000
 * @param replayBatches most batches of one answer to a replay request; what an engine has beyond them is asked for anew; default 100,000, ten
 *     times what engines keep
 * @param replaySilence after which an engine that sends no more replies is not waited for; default 5 s. An answer may begin so late and stop
 *     half-way, so {@link dev.tandemkv.indexer.event.FeedConfig#replyTimeout} is to be more than twice as long; else its part is lost
 * @param handshake after which a connection whose greetings are not exchanged is made anew, by a loop of the ingress' own; default 1 s
 * @param reconnectMin first wait before a lost connection is made anew; default 100 ms
 * @param reconnectMax longest wait; it doubles up to that; default 10 s
 * @param sharedEndpoint an endpoint to bind, to which engines connect that are told apart by their topics, or {@code null} for none
 */
public record ZmqSettings(
        WireLimits limits,
        int receiveHighWater,
        int replayBatches,
        Duration replaySilence,
        Duration handshake,
        Duration reconnectMin,
        Duration reconnectMax,
        @Nullable String sharedEndpoint) {

    /** @throws IllegalArgumentException if a bound is below 1 or a duration not positive */
    public ZmqSettings {
        Objects.requireNonNull(limits, "limits");
        if (receiveHighWater < 1) {
            throw new IllegalArgumentException("receiveHighWater: " + receiveHighWater + " (expected: >= 1)");
        }
        if (replayBatches < 1) {
            throw new IllegalArgumentException("replayBatches: " + replayBatches + " (expected: >= 1)");
        }
        requirePositive("replaySilence", replaySilence);
        requirePositive("handshake", handshake);
        requirePositive("reconnectMin", reconnectMin);
        requirePositive("reconnectMax", reconnectMax);
    }

    private static void requirePositive(String field, Duration value) {
        if (value.isZero() || value.isNegative()) {
            throw new IllegalArgumentException(field + ": " + value + " (expected: > 0)");
        }
    }

    /** All defaults; no shared endpoint. */
    public static ZmqSettings defaults() {
        return builder().build();
    }

    /** Starts from the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** Sets what differs from the defaults. Not thread-safe. */
    public static final class Builder {
        private WireLimits limits = WireLimits.defaults();
        private int receiveHighWater = 100_000;
        private int replayBatches = 100_000;
        private Duration replaySilence = Duration.ofSeconds(5);
        private Duration handshake = Duration.ofSeconds(1);
        private Duration reconnectMin = Duration.ofMillis(100);
        private Duration reconnectMax = Duration.ofSeconds(10);
        private @Nullable String sharedEndpoint;

        private Builder() {}

        public Builder limits(WireLimits value) {
            limits = value;
            return this;
        }

        public Builder receiveHighWater(int messages) {
            receiveHighWater = messages;
            return this;
        }

        public Builder replayBatches(int batches) {
            replayBatches = batches;
            return this;
        }

        public Builder replaySilence(Duration value) {
            replaySilence = value;
            return this;
        }

        public Builder handshake(Duration value) {
            handshake = value;
            return this;
        }

        public Builder reconnect(Duration min, Duration max) {
            reconnectMin = min;
            reconnectMax = max;
            return this;
        }

        public Builder sharedEndpoint(@Nullable String endpoint) {
            sharedEndpoint = endpoint;
            return this;
        }

        /** @throws IllegalArgumentException as {@link ZmqSettings#ZmqSettings} says */
        public ZmqSettings build() {
            return new ZmqSettings(
                    limits,
                    receiveHighWater,
                    replayBatches,
                    replaySilence,
                    handshake,
                    reconnectMin,
                    reconnectMax,
                    sharedEndpoint);
        }
    }
}

package dev.tandemkv.adapters.enginewire;

/**
 * What one payload may contain. Every limit is checked against the count or length that the bytes announce, before anything of that size
 * is allocated; a count is also never believed beyond the bytes that are left, so the memory that decoding takes is proportional to the
 * payload.
 *
 * <p>Thread-safe: immutable.
 *
 * @param payloadBytes longest payload in bytes, default 16 MiB
 * @param depth deepest nesting of arrays and maps, also inside values that are skipped, default 16
 * @param events most events of one batch, default 65,536
 * @param hashes most block hashes of one event, default 1,048,576
 * @param tokens most tokens (or token pairs) of one event, default 16,777,216
 * @param textBytes longest name, identifier or salt in bytes of UTF-8, default 65,536
 * @param hashBytes longest block hash that comes as bytes, default 64
 * @param objects most small objects of one payload in all: extra keys, look-ahead tokens, values of a dictionary; default 1,048,576
 */
public record WireLimits(
        int payloadBytes, int depth, int events, int hashes, int tokens, int textBytes, int hashBytes, int objects) {

    private static final WireLimits DEFAULTS = builder().build();

    /** @throws IllegalArgumentException if a limit is below 1 */
    public WireLimits {
        requirePositive("payloadBytes", payloadBytes);
        requirePositive("depth", depth);
        requirePositive("events", events);
        requirePositive("hashes", hashes);
        requirePositive("tokens", tokens);
        requirePositive("textBytes", textBytes);
        requirePositive("hashBytes", hashBytes);
        requirePositive("objects", objects);
    }

    /** The defaults: generous for engines, small for an attacker. */
    public static WireLimits defaults() {
        return DEFAULTS;
    }

    /** Starts from the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    private static void requirePositive(String field, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(field + ": " + value + " (expected: >= 1)");
        }
    }

    /** Sets single limits; the others keep their defaults. Not thread-safe. */
    public static final class Builder {
        private int payloadBytes = 16 << 20;
        private int depth = 16;
        private int events = 1 << 16;
        private int hashes = 1 << 20;
        private int tokens = 1 << 24;
        private int textBytes = 1 << 16;
        private int hashBytes = 64;
        private int objects = 1 << 20;

        private Builder() {}

        public Builder payloadBytes(int limit) {
            payloadBytes = limit;
            return this;
        }

        public Builder depth(int limit) {
            depth = limit;
            return this;
        }

        public Builder events(int limit) {
            events = limit;
            return this;
        }

        public Builder hashes(int limit) {
            hashes = limit;
            return this;
        }

        public Builder tokens(int limit) {
            tokens = limit;
            return this;
        }

        public Builder textBytes(int limit) {
            textBytes = limit;
            return this;
        }

        public Builder hashBytes(int limit) {
            hashBytes = limit;
            return this;
        }

        public Builder objects(int limit) {
            objects = limit;
            return this;
        }

        /** @throws IllegalArgumentException if a limit is below 1 */
        public WireLimits build() {
            return new WireLimits(payloadBytes, depth, events, hashes, tokens, textBytes, hashBytes, objects);
        }
    }
}

package dev.tandemkv.affinity;

import dev.tandemkv.catalog.BadRequestException;
import java.time.Duration;
import java.util.Objects;

/**
 * Limits and choices of one session table. Immutable; an invalid instance cannot exist.
 *
 * @param ttl how long a binding lives after its last use; 1 s to 31,536,000 s. No default: a table without one is not wanted
 * @param mode default {@link AffinityMode#HARD}
 * @param rebindMoment default {@link RebindMoment#ON_FIRST_TOKEN}
 * @param maxEntries sessions in the table; default 65,536
 * @param maxSessionIdBytes longest session id, in UTF-8 bytes; default 256
 * @param maxWaitersPerSession requests that may wait for one session's first dispatch; further ones route unpinned; default 256
 * @param maxInitializing how long one request may keep a session in its first dispatch before the next one takes over; default 30 s
 * @param maxLeaseAge oldest lease that no booking owns; an older one is ended and reported as a leak; default 1 h
 * @param tombstoneRetention how long an invalidated binding is remembered against late replica updates; default 10 min
 * @param maxClockSkew replica updates from further ahead of the wall clock are rejected; default 24 h
 */
public record AffinityConfig(
        Duration ttl,
        AffinityMode mode,
        RebindMoment rebindMoment,
        int maxEntries,
        int maxSessionIdBytes,
        int maxWaitersPerSession,
        Duration maxInitializing,
        Duration maxLeaseAge,
        Duration tombstoneRetention,
        Duration maxClockSkew) {

    /** 1 s. */
    public static final Duration MIN_TTL = Duration.ofSeconds(1);

    /** 31,536,000 s. */
    public static final Duration MAX_TTL = Duration.ofDays(365);

    /** @throws BadRequestException naming the first field that is out of its range */
    public AffinityConfig {
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(rebindMoment, "rebindMoment");
        if (ttl.compareTo(MIN_TTL) < 0 || ttl.compareTo(MAX_TTL) > 0) {
            throw new BadRequestException("ttl", ttl, MIN_TTL + " to " + MAX_TTL);
        }
        requirePositive("max_entries", maxEntries);
        requirePositive("max_session_id_bytes", maxSessionIdBytes);
        requirePositive("max_waiters_per_session", maxWaitersPerSession);
        requirePositive("max_initializing", maxInitializing);
        requirePositive("max_lease_age", maxLeaseAge);
        requirePositive("tombstone_retention", tombstoneRetention);
        requirePositive("max_clock_skew", maxClockSkew);
    }

    private static void requirePositive(String field, int value) {
        if (value < 1) {
            throw new BadRequestException(field, value, ">= 1");
        }
    }

    private static void requirePositive(String field, Duration value) {
        if (value.isNegative() || value.isZero() || value.compareTo(MAX_TTL) > 0) {
            throw new BadRequestException(field, value, "above 0, at most " + MAX_TTL);
        }
    }

    /**
     * Reads the TTL of a configuration, in seconds.
     *
     * @throws BadRequestException if the number is not finite, or out of range
     */
    public static Duration ttlOfSeconds(double seconds) {
        if (!(seconds >= MIN_TTL.toSeconds() && seconds <= MAX_TTL.toSeconds())) {
            throw new BadRequestException(
                    "ttl", seconds, MIN_TTL.toSeconds() + " to " + MAX_TTL.toSeconds() + " seconds");
        }
        return Duration.ofNanos(Math.round(seconds * 1e9));
    }

    /** The period of the reaper: the TTL, at most 30 s. */
    public Duration reaperPeriod() {
        Duration limit = Duration.ofSeconds(30);
        return ttl.compareTo(limit) < 0 ? ttl : limit;
    }

    public static Builder builder(Duration ttl) {
        return new Builder(ttl);
    }

    /** Starts from this one. */
    public Builder toBuilder() {
        return new Builder(ttl)
                .mode(mode)
                .rebindMoment(rebindMoment)
                .maxEntries(maxEntries)
                .maxSessionIdBytes(maxSessionIdBytes)
                .maxWaitersPerSession(maxWaitersPerSession)
                .maxInitializing(maxInitializing)
                .maxLeaseAge(maxLeaseAge)
                .tombstoneRetention(tombstoneRetention)
                .maxClockSkew(maxClockSkew);
    }

    /** Collects the components of an {@link AffinityConfig}; not thread-safe. */
    public static final class Builder {
        private Duration ttl;
        private AffinityMode mode = AffinityMode.HARD;
        private RebindMoment rebindMoment = RebindMoment.ON_FIRST_TOKEN;
        private int maxEntries = 65_536;
        private int maxSessionIdBytes = 256;
        private int maxWaitersPerSession = 256;
        private Duration maxInitializing = Duration.ofSeconds(30);
        private Duration maxLeaseAge = Duration.ofHours(1);
        private Duration tombstoneRetention = Duration.ofMinutes(10);
        private Duration maxClockSkew = Duration.ofHours(24);

        private Builder(Duration ttl) {
            this.ttl = Objects.requireNonNull(ttl, "ttl");
        }

        public Builder ttl(Duration ttl) {
            this.ttl = Objects.requireNonNull(ttl, "ttl");
            return this;
        }

        /** Default hard. */
        public Builder mode(AffinityMode mode) {
            this.mode = mode;
            return this;
        }

        /** Default on first token. */
        public Builder rebindMoment(RebindMoment rebindMoment) {
            this.rebindMoment = rebindMoment;
            return this;
        }

        /** Default 65,536. */
        public Builder maxEntries(int maxEntries) {
            this.maxEntries = maxEntries;
            return this;
        }

        /** Default 256. */
        public Builder maxSessionIdBytes(int maxSessionIdBytes) {
            this.maxSessionIdBytes = maxSessionIdBytes;
            return this;
        }

        /** Default 256. */
        public Builder maxWaitersPerSession(int maxWaitersPerSession) {
            this.maxWaitersPerSession = maxWaitersPerSession;
            return this;
        }

        /** Default 30 s. */
        public Builder maxInitializing(Duration maxInitializing) {
            this.maxInitializing = maxInitializing;
            return this;
        }

        /** Default 1 h. */
        public Builder maxLeaseAge(Duration maxLeaseAge) {
            this.maxLeaseAge = maxLeaseAge;
            return this;
        }

        /** Default 10 min. */
        public Builder tombstoneRetention(Duration tombstoneRetention) {
            this.tombstoneRetention = tombstoneRetention;
            return this;
        }

        /** Default 24 h. */
        public Builder maxClockSkew(Duration maxClockSkew) {
            this.maxClockSkew = maxClockSkew;
            return this;
        }

        /** @throws BadRequestException naming the first field that is out of its range */
        public AffinityConfig build() {
            return new AffinityConfig(
                    ttl,
                    mode,
                    rebindMoment,
                    maxEntries,
                    maxSessionIdBytes,
                    maxWaitersPerSession,
                    maxInitializing,
                    maxLeaseAge,
                    tombstoneRetention,
                    maxClockSkew);
        }
    }
}

package dev.tandemkv.selection.config;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where the knowledge of caches comes from.
 *
 * @param useKvEvents true follows the engines' events, false assumes what bookings imply; default true
 * @param approximateTtl how long an assumption lives; default 120 s
 * @param approximateCachePolicy how assumptions end; {@link ApproximateCachePolicy#LRU} needs {@code useKvEvents} false; default by time
 * @param predictedTtl also assume, beside the events, for this long what bookings imply; needs {@code useKvEvents}; default none
 * @param shards structures among which a partition's index divides its ranks: a power of two from 1 to 64; default 1
 * @param eventThreads lanes of event appliers a host may run; at least 1; default 4
 * @param useRemoteIndexer whether the index is asked over a lookup port; default false
 * @param serveIndexer whether a host that reads this offers the core's index to others; excludes {@code useRemoteIndexer}; default false
 * @param sharedCacheType name of the shared cache, or {@code null} for none
 * @param onFailure what a failed lookup does; default {@link OnFailure#DEGRADE}
 * @param signalPatience served prompts without an event, or without a match, after which the cache signal counts as dead; at least 1;
 *     default 256
 */
public record IndexConfig(
        boolean useKvEvents,
        Duration approximateTtl,
        ApproximateCachePolicy approximateCachePolicy,
        @Nullable Duration predictedTtl,
        int shards,
        int eventThreads,
        boolean useRemoteIndexer,
        boolean serveIndexer,
        @Nullable String sharedCacheType,
        OnFailure onFailure,
        int signalPatience) {

    /** How an assumed block ends. */
    public enum ApproximateCachePolicy {
        /** Its time passes. */
        TTL,
        /** The rank's capacity pushes it out, least recently used first. */
        LRU
    }

    /** What a failed lookup does to its selection. */
    public enum OnFailure {
        /** It goes on one rung lower, visibly. */
        DEGRADE,
        /** It ends {@code INDEX_OFFLINE}. */
        FAIL
    }

    public IndexConfig {
        Objects.requireNonNull(approximateCachePolicy, "approximateCachePolicy");
        Objects.requireNonNull(onFailure, "onFailure");
        Check.notNegative("router_ttl_secs", approximateTtl);
        Check.notNegative("router_predicted_ttl_secs", predictedTtl);
        Check.that(
                shards >= 1 && shards <= 64 && Integer.bitCount(shards) == 1,
                "index_shards",
                shards,
                "a power of two from 1 to 64");
        Check.atLeast("router_event_threads", eventThreads, 1);
        Check.atLeast("cache_signal_patience", signalPatience, 1);
        Check.that(
                approximateCachePolicy == ApproximateCachePolicy.TTL || !useKvEvents,
                "router_approximate_cache_policy",
                "lru",
                "ttl while use_kv_events is true");
        Check.that(
                predictedTtl == null || useKvEvents,
                "router_predicted_ttl_secs",
                String.valueOf(predictedTtl),
                "none while use_kv_events is false");
        Check.that(
                !(useRemoteIndexer && serveIndexer),
                "serve_indexer",
                serveIndexer,
                "false while use_remote_indexer is true");
    }

    /** The values on their way into such a record; they begin as the defaults. */
    static final class Draft {
        boolean useKvEvents = true;
        Duration approximateTtl = Duration.ofMinutes(2);
        ApproximateCachePolicy approximateCachePolicy = ApproximateCachePolicy.TTL;

        @Nullable
        Duration predictedTtl;

        int shards = 1;
        int eventThreads = 4;
        boolean useRemoteIndexer = false;
        boolean serveIndexer = false;

        @Nullable
        String sharedCacheType;

        OnFailure onFailure = OnFailure.DEGRADE;
        int signalPatience = 256;

        Draft() {}

        Draft(IndexConfig c) {
            useKvEvents = c.useKvEvents();
            approximateTtl = c.approximateTtl();
            approximateCachePolicy = c.approximateCachePolicy();
            predictedTtl = c.predictedTtl();
            shards = c.shards();
            eventThreads = c.eventThreads();
            useRemoteIndexer = c.useRemoteIndexer();
            serveIndexer = c.serveIndexer();
            sharedCacheType = c.sharedCacheType();
            onFailure = c.onFailure();
            signalPatience = c.signalPatience();
        }

        IndexConfig build() {
            return new IndexConfig(
                    useKvEvents,
                    approximateTtl,
                    approximateCachePolicy,
                    predictedTtl,
                    shards,
                    eventThreads,
                    useRemoteIndexer,
                    serveIndexer,
                    sharedCacheType,
                    onFailure,
                    signalPatience);
        }
    }
}

package dev.tandemkv.indexer.event;

/** What a feed counts, over all its ranks and since its birth. */
public enum FeedCounter {
    /** Batches applied. */
    BATCHES,
    /** Events given to the index. */
    EVENTS,
    /** Batches ignored because they were applied before. */
    STALE,
    /** Live batches that could not be read. */
    UNDECODABLE,
    /** Replayed batches that could not be read. */
    UNDECODABLE_REPLAYED,
    /** Gaps seen. */
    GAPS,
    /** Numbers given up. */
    LOST_BATCHES,
    /** Replays asked for, further rounds included. */
    REPLAYS,
    /** Resyncs asked for. */
    RESYNCS,
    /** Replays and resyncs that failed or timed out. */
    RECOVERY_FAILURES,
    /** New publishers noticed by their numbers. */
    RESTARTS,
    /** Batches dropped by the bounded ingest buffer. */
    DROPPED,
    /** Batches dropped because too many waited for a replay. */
    HELD_DROPPED,
    /** Stores refused because their parent is not held. */
    ORPHAN_EVENTS,
    /** Blocks that those named. */
    ORPHAN_BLOCKS,
    /** Device events dropped because of an unsupported hash scheme. */
    UNSUPPORTED_HASH_SCHEME_DROPPED,
    /** Batches of a rank whose worker is not registered. */
    UNKNOWN_RANK
}

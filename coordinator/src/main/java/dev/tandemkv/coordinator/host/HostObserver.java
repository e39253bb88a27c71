package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.coordinator.PendingFree;

/**
 * The metrics hooks of a host. All do nothing by default; they are called outside any lock, and what they throw is logged and swallowed.
 * The names in brackets are those of the metrics they feed.
 */
public interface HostObserver {

    /** [requests_started_total] A booked request got its guard. */
    default void onStarted(WorkerRank worker) {}

    /** [kv_hit_rate, input_sequence_tokens] What was selected. */
    default void onSelected(WorkerRank worker, double hitRate, long inputTokens) {}

    /** The first response item came, with or without tokens; {@code nanos} since the dispatch. */
    default void onDispatchLatency(WorkerRank worker, long nanos) {}

    /** [time_to_first_token_seconds] {@code nanos} since the request was routed. */
    default void onFirstToken(WorkerRank worker, long nanos) {}

    /** [inter_token_latency_seconds] {@code nanos} for each of {@code tokens} new tokens. */
    default void onTokens(WorkerRank worker, int tokens, long nanos) {}

    /** [requests_total, output_sequence_tokens] A dispatched request ended; never for one that reached no worker. */
    default void onFinished(WorkerRank worker, long outputTokens) {}

    /**
     * [kv_transfer_estimated_latency_seconds] A response of {@link Phase#DECODE_STAGED} ended; {@code nanos} from its dispatch to its first
     * token, which is the most that the transfer of its KV can have taken. Not told where no token came.
     */
    default void onKvTransfer(WorkerRank worker, long nanos) {}

    /** A worker failed this request and another one is tried. */
    default void onMigration(WorkerRank failed, int attempt) {}

    /**
     * Something beside the request failed: a prefill mark, a routing record, a lease renewal, the host's own worker health; or a subscriber
     * threw, which counts as having cancelled.
     */
    default void onWarning(String what, Throwable failure) {}

    /**
     * A release was given up after its last try; it stays listed in {@link RoutingHost#pendingFrees()}, and {@link RoutingHost#retryFrees()}
     * tries it again.
     */
    default void onLeak(PendingFree free) {}

    /** The handle of a response was lost without being read or closed: worker and booking are let go of. */
    default void onForgotten(String selectionId, WorkerRank worker, long ageNanos) {}

    /** Hears nothing. */
    static HostObserver none() {
        return new HostObserver() {};
    }
}

package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.Prompt;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a query-only request.
 *
 * @param prefill the rank that would prefill, or {@code null} for a decode query
 * @param decode the rank that would decode, or {@code null} for a prefill query
 * @param prompt what was asked for
 */
public record RoutingData(
        @Nullable WorkerRank prefill, @Nullable WorkerRank decode, Prompt prompt) {}

package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import java.util.concurrent.CompletionStage;

/**
 * Where lost batches are asked for again: the port to an engine's replay socket, or to a worker that keeps its recent events. The feed
 * asks at most one thing per rank at a time.
 */
@FunctionalInterface
public interface ReplaySource {

    /**
     * Everything that is still known of a rank from one number on.
     *
     * @param rank whose batches
     * @param from unsigned number of the first batch wanted
     * @return completes on any thread; a failure means that nothing was learned. A source that falls silent half-way completes with what
     *     arrived, without end marker
     */
    CompletionStage<ReplayReply> replay(WorkerRank rank, long from);
}

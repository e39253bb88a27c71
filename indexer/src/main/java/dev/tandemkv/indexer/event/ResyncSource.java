package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** Where the whole content of a rank is asked for, when events were lost for good. Only of a source that can answer. */
@FunctionalInterface
public interface ResyncSource {

    /**
     * All that the rank holds.
     *
     * @return completes on any thread; a failure means that nothing was learned
     */
    CompletionStage<ReplayReply.Contents> resync(WorkerRank rank);

    /**
     * A resync by replaying everything since the start: possible as long as the source still has its first batch.
     *
     * @param firstSequence number of a publisher's first batch, 0 or 1
     */
    static ResyncSource replayFromStart(ReplaySource replay, long firstSequence) {
        return rank -> replay.replay(rank, firstSequence).thenApply(reply -> {
            if (reply instanceof ReplayReply.Batches batches) {
                return batches.asContents(firstSequence)
                        .orElseThrow(() ->
                                new CompletionException("replay of " + rank + " from the start is not complete", null));
            }
            return (ReplayReply.Contents) reply;
        });
    }
}

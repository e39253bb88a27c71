package dev.tandemkv.indexer;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.KvEvent;

/**
 * Told what became of every event. Called by the thread that applied it, after the index's lock was released, so a call may come from any
 * thread that uses the index and two calls may overlap. What it throws is logged and swallowed.
 */
@FunctionalInterface
public interface IndexObserver {

    /**
     * @param rank whose event it was
     * @param event the event as it was given
     * @param outcome what became of it
     */
    void onEvent(WorkerRank rank, KvEvent event, EventOutcome outcome);
}

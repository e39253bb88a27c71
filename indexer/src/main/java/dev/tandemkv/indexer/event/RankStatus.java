package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.health.LadderRung;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What a feed knows of one rank at one moment between two steps.
 *
 * @param rank the rank
 * @param exactness how far the index's picture of it can be trusted
 * @param cursor unsigned number of the last batch applied; none before the first
 * @param timestamp of that batch, NaN if unknown
 * @param held batches that wait for a replay
 * @param orphanShare share of orphaned blocks among those stored in the window; 0 if there were too few to judge
 * @param rung what a selection should believe of the rank
 * @param incarnation of the engine process, or {@code null} if unknown
 */
public record RankStatus(
        WorkerRank rank,
        Exactness exactness,
        OptionalLong cursor,
        double timestamp,
        int held,
        double orphanShare,
        LadderRung rung,
        @Nullable String incarnation) {}

package dev.tandemkv.indexer.dump;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.EventOutcome;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.RankCheckpoint;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Puts a partition of a dump back. */
public final class DumpRestore {

    /** What became of one rank of the dump. */
    public enum Outcome {
        /** Its content is back, and its stream goes on from there. */
        RESTORED,
        /** Its worker is now another process: the rank begins empty. */
        OTHER_INCARNATION,
        /** The host does not know the rank: nothing was done. */
        UNKNOWN_RANK,
        /** The index had no room, or found the content contradictory: the rank begins empty. */
        REFUSED
    }

    private DumpRestore() {}

    /**
     * Registers with the feed every rank of the dump that the host knows, with its content where that is still the present process's. The
     * dump was checked as a whole when it was read.
     *
     * @param sources what the host knows of a rank's publisher; empty for a rank it does not know
     * @return what became of each rank, in the order of the dump
     * @throws dev.tandemkv.catalog.ConflictException if a rank is registered already
     */
    public static Map<WorkerRank, Outcome> restore(
            IndexDump.Partition partition, IndexFeed feed, Function<WorkerRank, Optional<FeedSource>> sources) {
        Map<WorkerRank, Outcome> outcomes = new LinkedHashMap<>();
        for (RankCheckpoint checkpoint : partition.ranks()) {
            WorkerRank rank = checkpoint.contents().rank();
            Optional<FeedSource> source = sources.apply(rank);
            outcomes.put(rank, source.isEmpty() ? Outcome.UNKNOWN_RANK : restore(checkpoint, feed, source.get()));
        }
        return outcomes;
    }

    /**
     * Registers one rank of a dump with the feed, with its content where that is still the present process's. Waits for the feed: not to be
     * called by its observer or ports.
     *
     * @throws dev.tandemkv.catalog.ConflictException if the rank is registered already
     */
    public static Outcome restore(RankCheckpoint checkpoint, IndexFeed feed, FeedSource source) {
        String then = checkpoint.incarnation();
        String now = source.incarnation();
        if (then != null && now != null && !then.equals(now)) {
            feed.register(checkpoint.contents().rank(), source);
            return Outcome.OTHER_INCARNATION;
        }
        EventOutcome outcome =
                feed.restore(checkpoint, source).toCompletableFuture().join();
        return outcome == EventOutcome.OK ? Outcome.RESTORED : Outcome.REFUSED;
    }
}

package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.WorkerLifecycle;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.RankLoad;
import dev.tandemkv.selection.RankOverlap;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.internal.choice.CandidateTable;
import dev.tandemkv.selection.internal.ledger.BookingLedger;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What can be read of a partition beside decisions. Enters the step where it needs the rows. */
public final class ReadModels {

    private ReadModels() {}

    /** Booked load of every rank, without any prompt. */
    public static PartitionLoads loads(Partition partition) {
        return partition.mailbox().call(() -> {
            long now = partition.core().ticker().read();
            Roster roster = partition.roster();
            BookingLedger ledger = partition.ledger();
            List<RankLoad> loads = new ArrayList<>(roster.size());
            for (int row : roster.order()) {
                loads.add(new RankLoad(
                        roster.rank(row),
                        ledger.activePrefillTokens(row, now),
                        ledger.activeDecodeBlocks(row),
                        ledger.activeRequests(row)));
            }
            return partition.pending(loads);
        });
    }

    /** Load of every rank as it would be with one more prompt. */
    public static List<RankLoad> potentialLoads(Partition partition, Attempt attempt) {
        partition.cache().lookUpHere(attempt);
        try {
            return partition.mailbox().call(() -> {
                partition.refreshIfStale(attempt);
                CandidateTable all = partition.allRanks(attempt);
                List<RankLoad> loads = new ArrayList<>(all.size());
                for (int i = 0; i < all.size(); i++) {
                    long added = attempt.trackPrefill() ? Math.round(all.uncachedTokens(i)) : 0;
                    loads.add(new RankLoad(
                            all.worker(i),
                            all.activePrefillTokens(i) + added,
                            all.potentialDecodeBlocks(i),
                            all.activeRequests(i)));
                }
                return loads;
            });
        } finally {
            partition.cache().release(attempt);
        }
    }

    /** What each eligible rank would cost; empty if the policy does not score. */
    public static Optional<List<RankScore>> score(Partition partition, Attempt attempt) {
        partition.cache().lookUpHere(attempt);
        try {
            return partition.mailbox().call(() -> partition.score(attempt)).map(ReadModels::scores);
        } finally {
            partition.cache().release(attempt);
        }
    }

    private static List<RankScore> scores(List<Decider.Cost> costs) {
        List<RankScore> scores = new ArrayList<>(costs.size());
        for (Decider.Cost cost : costs) {
            WorkerRecord record = new WorkerRecord(cost.spec(), WorkerLifecycle.SCHEDULABLE, List.of());
            scores.add(new RankScore(cost.worker(), cost.cost(), record));
        }
        return scores;
    }

    /** What every schedulable rank, and every other rank with a hit, holds of a prompt. */
    public static List<RankOverlap> overlaps(Partition partition, Attempt attempt) {
        partition.cache().lookUpHere(attempt);
        try {
            List<WorkerRank> ranks = partition.mailbox().call(partition.roster()::ranks);
            OverlapScores scores = attempt.scores();
            List<RankOverlap> rows = new ArrayList<>(ranks.size());
            for (WorkerRank rank : ranks) {
                rows.add(overlap(
                        partition,
                        attempt,
                        rank,
                        scores == null ? -1 : partition.cache().slotOf(rank)));
            }
            for (int slot = scores == null ? -1 : scores.nextSlot(0);
                    scores != null && slot >= 0;
                    slot = scores.nextSlot(slot + 1)) {
                WorkerRank rank = scores.rankAt(slot);
                if (!ranks.contains(rank)) {
                    rows.add(overlap(partition, attempt, rank, slot));
                }
            }
            rows.sort((a, b) -> WorkerRank.UNSIGNED_ORDER.compare(a.worker(), b.worker()));
            return rows;
        } finally {
            partition.cache().release(attempt);
        }
    }

    private static RankOverlap overlap(Partition partition, Attempt attempt, WorkerRank rank, int slot) {
        ScoringConfig scoring = partition.core().config().scoring();
        OverlapScores scores = attempt.scores();
        int device = scores == null ? 0 : scores.blocks(slot);
        int host = scores == null ? 0 : scores.blocks(slot, Tier.HOST_PINNED);
        int disk = scores == null ? 0 : scores.blocks(slot, Tier.DISK) + scores.blocks(slot, Tier.EXTERNAL);
        Double credit = attempt.request().override().overlapScoreCredit();
        double creditBlocks = (credit == null ? scoring.overlapScoreCredit() : credit) * device
                + scoring.hostCacheHitWeight() * host
                + scoring.diskCacheHitWeight() * disk;
        return new RankOverlap(rank, device, host, disk, null, creditBlocks);
    }
}

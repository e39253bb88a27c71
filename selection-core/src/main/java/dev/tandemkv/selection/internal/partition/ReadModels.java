package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.WorkerLifecycle;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.selection.OverlapReport;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.RankLoad;
import dev.tandemkv.selection.RankOverlap;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.host.RemoteIndex;
import dev.tandemkv.selection.host.SharedCache;
import dev.tandemkv.selection.internal.choice.CandidateTable;
import dev.tandemkv.selection.internal.ledger.BookingLedger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

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

    /** Load of every rank as it would be with one more prompt, whose ranks were looked up. */
    public static List<RankLoad> potentialLoads(Partition partition, Attempt attempt) {
        return partition.mailbox().call(() -> {
            partition.refreshIfStale(attempt);
            CandidateTable all = partition.allRanks(attempt);
            List<RankLoad> loads = new ArrayList<>(all.size());
            for (int i = 0; i < all.size(); i++) {
                long added = attempt.trackPrefill() ? Math.round(all.uncachedTokens(i)) : 0;
                loads.add(new RankLoad(
                        all.worker(i),
                        LoadView.sum(all.activePrefillTokens(i), added),
                        all.potentialDecodeBlocks(i),
                        all.activeRequests(i)));
            }
            return loads;
        });
    }

    /** What each eligible rank would cost; empty if the policy does not score. */
    public static Optional<List<RankScore>> score(Partition partition, Attempt attempt) {
        return partition.mailbox().call(() -> partition.score(attempt)).map(ReadModels::scores);
    }

    private static List<RankScore> scores(List<Decider.Cost> costs) {
        List<RankScore> scores = new ArrayList<>(costs.size());
        for (Decider.Cost cost : costs) {
            WorkerRecord record = new WorkerRecord(cost.spec(), WorkerLifecycle.SCHEDULABLE, List.of());
            scores.add(new RankScore(cost.worker(), cost.cost(), record));
        }
        return scores;
    }

    /**
     * The least loaded rank that takes new bookings, if a target is too far above it.
     *
     * @param target a worker, of which the least loaded rank counts, or a rank
     * @param margin blocks of prefill and decode load that it may be above
     * @return {@code null} if it is not
     */
    public static @Nullable WorkerRank leastLoadedBelow(Partition partition, AffinityTarget target, double margin) {
        return partition.mailbox().call(() -> {
            long now = partition.core().ticker().read();
            Roster roster = partition.roster();
            double own = Double.POSITIVE_INFINITY;
            double least = Double.POSITIVE_INFINITY;
            WorkerRank lightest = null;
            for (int row : roster.order()) {
                if (roster.draining(row)) {
                    continue;
                }
                double load = partition.bookedBlocks(row, now);
                WorkerRank rank = roster.rank(row);
                if (load < least) {
                    least = load;
                    lightest = rank;
                }
                if (rank.workerId() == target.workerId()
                        && (target.dpRank() == null || target.dpRank() == rank.rank())) {
                    own = Math.min(own, load);
                }
            }
            return own > least + margin ? lightest : null;
        });
    }

    /** What every schedulable rank, and every other rank with a hit, holds of a prompt that was looked up. */
    public static OverlapReport overlaps(Partition partition, Attempt attempt) {
        Set<WorkerRank> ranks = new TreeSet<>(WorkerRank.UNSIGNED_ORDER);
        ranks.addAll(partition.mailbox().call(partition::schedulableRanks));
        ranks.addAll(attempt.remote().keySet());
        OverlapScores scores = attempt.scores();
        Map<WorkerRank, Integer> slots = new HashMap<>();
        for (int slot = scores == null ? -1 : scores.nextSlot(0);
                scores != null && slot >= 0;
                slot = scores.nextSlot(slot + 1)) {
            slots.put(scores.rankAt(slot), slot);
        }
        ranks.addAll(slots.keySet());
        List<RankOverlap> rows = new ArrayList<>(ranks.size());
        for (WorkerRank rank : ranks) {
            rows.add(overlap(partition, attempt, rank, slots.getOrDefault(rank, -1)));
        }
        return new OverlapReport(
                partition.blockSize(),
                attempt.prompt().blockHashes().length,
                rows,
                partition.cache().hasSharedCache() ? shared(attempt) : null);
    }

    private static OverlapReport.Shared shared(Attempt attempt) {
        int[] hits = attempt.sharedHits();
        boolean asked = attempt.request().prompt() instanceof Prompt.Tokens
                && attempt.prompt().blockHashes().length > 0;
        List<SharedCache.Range> ranges = new ArrayList<>();
        for (int i = 0; hits != null && i < hits.length; ) {
            int from = hits[i];
            int to = from;
            while (i < hits.length && hits[i] == to) {
                to++;
                i++;
            }
            ranges.add(new SharedCache.Range(from, to));
        }
        return new OverlapReport.Shared(ranges, asked && hits == null);
    }

    private static RankOverlap overlap(Partition partition, Attempt attempt, WorkerRank rank, int slot) {
        ScoringConfig scoring = partition.core().config().scoring();
        RouterConfigOverride override = attempt.request().override();
        OverlapScores scores = attempt.scores();
        RemoteIndex.Match there = attempt.remote().get(rank);
        int own = scores == null ? 0 : scores.blocks(slot);
        int device = there == null ? own : Math.max(own, there.device());
        int host = there == null ? lower(attempt, slot, Tier.HOST_PINNED) : there.hostExtension();
        int disk = there == null
                ? lower(attempt, slot, Tier.DISK) + lower(attempt, slot, Tier.EXTERNAL)
                : there.diskExtension();
        int[] hits = attempt.sharedHits();
        Integer beyond = hits == null ? null : CandidateReader.from(hits, device);
        double credit = or(override.overlapScoreCredit(), scoring.overlapScoreCredit()) * device
                + scoring.hostCacheHitWeight() * host
                + scoring.diskCacheHitWeight() * disk
                + or(override.sharedCacheMultiplier(), scoring.sharedCacheMultiplier()) * (beyond == null ? 0 : beyond);
        return new RankOverlap(rank, device, host, disk, beyond, credit);
    }

    /** Blocks of a lower tier as this process knows them; another process that was asked knows them all. */
    private static int lower(Attempt attempt, int slot, Tier tier) {
        OverlapScores scores = attempt.scores();
        return scores == null || !attempt.remote().isEmpty() ? 0 : scores.blocks(slot, tier);
    }

    private static double or(@Nullable Double override, double configured) {
        return override == null ? configured : override;
    }
}

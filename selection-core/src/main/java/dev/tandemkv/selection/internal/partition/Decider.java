package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.selection.ExclusionReason;
import dev.tandemkv.selection.Overlap;
import dev.tandemkv.selection.OverloadedException;
import dev.tandemkv.selection.PolicyFaultException;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.WorkerLoad;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.SessionConfig.Overloaded;
import dev.tandemkv.selection.config.TrackingConfig.PrefillLoadModel;
import dev.tandemkv.selection.host.PrefillEstimator;
import dev.tandemkv.selection.internal.ledger.BookingTerms;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import dev.tandemkv.selection.internal.partition.Attempt.TargetRule;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The middle of the partition step: who is eligible, what each candidate costs, who is picked, what is booked. Reads load and membership at
 * one instant and leaves either a decision or a failure in the attempt. Confined to the step.
 */
final class Decider {

    private final Partition partition;
    private final SelectionConfig config;
    private final CoreContext core;
    private final Roster roster;
    private final Eligibility eligibility;
    private final LoadView loads;
    private final Candidates candidates;
    private final Chooser chooser;

    Decider(Partition partition, Chooser chooser) {
        this.partition = partition;
        this.chooser = chooser;
        core = partition.core();
        config = core.config();
        roster = partition.roster();
        eligibility = new Eligibility(partition.key(), roster, core.host());
        loads = new LoadView(roster, partition.ledger(), core.host().reportedLoad());
        candidates = new Candidates(
                roster,
                loads,
                partition.ledger(),
                config.scoring(),
                partition.blockSize(),
                config.tracking().activeBlocks());
    }

    Eligibility eligibility() {
        return eligibility;
    }

    LoadView loads() {
        return loads;
    }

    /** Chooses, and books where the attempt says so; whatever goes wrong is the attempt's failure. */
    void decide(Attempt attempt, long now) {
        try {
            refuseTargetBesidePin(attempt);
            partition.refreshIfStale(attempt);
            if (!narrow(attempt)) {
                return;
            }
            eligibility.collect(attempt);
            if (eligibility.count() == 0) {
                attempt.fail(eligibility.nothingFound(attempt));
                return;
            }
            candidates.fill(attempt, eligibility, now);
            int chosen = chooser.choose(attempt, candidates, partition.random());
            describe(attempt, chosen, now);
            if (attempt.purpose() == Attempt.Purpose.BOOK) {
                book(attempt, chosen, now);
            }
        } catch (SelectionException e) {
            attempt.fail(e);
        } catch (RuntimeException e) {
            attempt.fail(new PolicyFaultException(PolicyFaultException.Fault.THREW, "host port", -1, e));
        }
    }

    /** An eligible target narrows before the pin is looked at, so a pin elsewhere contradicts it. */
    private void refuseTargetBesidePin(Attempt attempt) {
        SelectRequest request = attempt.request();
        AffinityTarget target = request.affinityTarget();
        WorkerRank pin = request.pinnedWorker();
        if (target != null
                && pin != null
                && (target.workerId() != pin.workerId() || (target.dpRank() != null && target.dpRank() != pin.rank()))
                && eligibility.isEligible(target, attempt)) {
            throw new BadRequestException(
                    "pinned_worker", pin, "the affinity target " + target + ", which is eligible");
        }
    }

    /** Draws the attempt to its target while that is eligible; false if it must not go elsewhere either. */
    private boolean narrow(Attempt attempt) {
        AffinityTarget target = attempt.target();
        attempt.required(null);
        attempt.advised(null);
        attempt.spilled(false);
        if (target == null) {
            return true;
        }
        ExclusionReason reason = eligibility.reasonOf(target, attempt);
        if (attempt.targetRule() == TargetRule.ADVISED) {
            attempt.advised(reason == null ? target : null);
        } else if (reason == null) {
            attempt.required(target);
        } else if (reason == ExclusionReason.OVERLOADED) {
            if (config.sessions().overloaded() == Overloaded.WAIT) {
                attempt.fail(OverloadedException.session(target));
                return false;
            }
            attempt.spilled(true);
        }
        return true;
    }

    /** All ranks, whoever is eligible. */
    Candidates allRanks(Attempt attempt, long now) {
        eligibility.collectAll();
        candidates.fill(attempt, eligibility, now);
        return candidates;
    }

    private void describe(Attempt attempt, int chosen, long now) {
        int row = candidates.row(chosen);
        long isl = attempt.prompt().islTokens();
        attempt.choose(roster.rank(row), roster.spec(row));
        double cached = candidates.cachedTokens(chosen, isl);
        // Half away from zero; the figure is never negative here, so this is what rounding means.
        long effective = Math.round(isl - cached);
        long potential = candidates.potentialDecodeBlocks(chosen);
        attempt.figures(cached, effective, potential, overlapOf(row, attempt.scores()));
        attempt.busy(decodeBusy(row, potential));
        attempt.blocksLost(lost(attempt, chosen));
        if (attempt.purpose() == Attempt.Purpose.ADVISORY) {
            attempt.load(loadOf(row, now));
        }
    }

    private @Nullable Boolean decodeBusy(int row, long potential) {
        Double threshold = config.disaggregation().decodeBusyThreshold();
        long kvBlocks = roster.kvBlocks(row);
        if (threshold == null || kvBlocks == Roster.UNKNOWN_BLOCKS) {
            return null;
        }
        return potential > threshold * kvBlocks;
    }

    private double lost(Attempt attempt, int chosen) {
        if (attempt.request().pinnedWorker() != null || attempt.scores() == null) {
            return 0;
        }
        double best = 0;
        for (int i = 0; i < candidates.count(); i++) {
            best = Math.max(best, candidates.weightedBlocks(i));
        }
        return best - candidates.weightedBlocks(chosen);
    }

    private WorkerLoad loadOf(int row, long now) {
        loads.read(row, now);
        long active = loads.prefillTokens();
        long capacity = roster.batchTokens(row);
        Double threshold = config.prefillBusyThreshold();
        Long kvBlocks = roster.kvBlocks(row) == Roster.UNKNOWN_BLOCKS ? null : roster.kvBlocks(row);
        return new WorkerLoad(active, capacity, kvBlocks, threshold == null ? null : active > threshold * capacity);
    }

    /** Cumulative tokens, each the most that any rank of the worker holds. */
    private Overlap overlapOf(int row, @Nullable OverlapScores scores) {
        if (scores == null) {
            return Overlap.NONE;
        }
        if (roster.spec(row).rankCount() == 1) {
            return overlapOf(scores, roster.slot(row), roster.rank(row).rank());
        }
        Overlap most = Overlap.NONE;
        Map<Integer, Long> byRank = new HashMap<>();
        for (int each : roster.rowsOf(roster.rank(row).workerId())) {
            Overlap own = overlapOf(scores, roster.slot(each), roster.rank(each).rank());
            byRank.putAll(own.deviceByRank());
            most = new Overlap(
                    Math.max(most.longestMatched(), own.longestMatched()),
                    Math.max(most.gpu(), own.gpu()),
                    Math.max(most.cpu(), own.cpu()),
                    Math.max(most.disk(), own.disk()),
                    Map.of());
        }
        return most.disk() == 0
                ? Overlap.NONE
                : new Overlap(most.longestMatched(), most.gpu(), most.cpu(), most.disk(), byRank);
    }

    private Overlap overlapOf(OverlapScores scores, int slot, int rank) {
        long block = partition.blockSize();
        long gpu = block * scores.blocks(slot);
        long cpu = gpu + block * scores.blocks(slot, Tier.HOST_PINNED);
        long disk = cpu + block * (scores.blocks(slot, Tier.DISK) + scores.blocks(slot, Tier.EXTERNAL));
        if (disk == 0) {
            return Overlap.NONE;
        }
        return new Overlap(disk, gpu, cpu, disk, gpu == 0 ? Map.of() : Map.of(rank, gpu));
    }

    private void book(Attempt attempt, int chosen, long now) {
        int row = candidates.row(chosen);
        PrefillHint hint = attempt.trackPrefill() ? hint(attempt) : PrefillHint.NONE;
        BookingTerms terms = new BookingTerms(
                attempt.bookingOn(roster.rank(row)),
                hint,
                attempt.request().expectedOutputTokens(),
                attempt.request().prompt().loraName(),
                attempt.ownership());
        LedgerEntry entry = partition.ledger().add(row, terms, attempt.prompt().trackingHashes(), now);
        attempt.booked(entry);
        loads.booked(entry, hint.tokens(), candidates.addedBlocks(chosen));
        partition.armExpiry();
    }

    private PrefillHint hint(Attempt attempt) {
        long tokens = attempt.effectivePrefillTokens();
        PrefillEstimator estimator = core.host().prefillEstimator();
        if (tokens == 0 || estimator == null || config.tracking().prefillLoadModel() == PrefillLoadModel.NONE) {
            return PrefillHint.unmodelled(tokens);
        }
        try {
            Duration expected = estimator.estimate(1, tokens, attempt.prompt().islTokens() - tokens);
            return expected == null || expected.isNegative()
                    ? PrefillHint.unmodelled(tokens)
                    : new PrefillHint(tokens, expected.toNanos());
        } catch (RuntimeException e) {
            // The estimate is a refinement: without it the booking is charged until its prefill completes.
            return PrefillHint.unmodelled(tokens);
        }
    }
}

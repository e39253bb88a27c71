package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.selection.ExclusionReason;
import dev.tandemkv.selection.NoEligibleWorkerException;
import dev.tandemkv.selection.Overlap;
import dev.tandemkv.selection.OverloadedException;
import dev.tandemkv.selection.PolicyFaultException;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.WorkerLoad;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.SessionConfig.Overloaded;
import dev.tandemkv.selection.config.TrackingConfig.PrefillLoadModel;
import dev.tandemkv.selection.explain.Regret;
import dev.tandemkv.selection.host.PrefillEstimator;
import dev.tandemkv.selection.internal.choice.CandidateTable;
import dev.tandemkv.selection.internal.choice.ChoicePipeline;
import dev.tandemkv.selection.internal.choice.ChoicePipeline.Rejections;
import dev.tandemkv.selection.internal.choice.ExplanationCollector;
import dev.tandemkv.selection.internal.ledger.BookingTerms;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import dev.tandemkv.selection.internal.partition.Attempt.TargetRule;
import dev.tandemkv.selection.policy.PolicyComponents;
import dev.tandemkv.selection.policy.PolicyContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The middle of the partition step: who is eligible, what each candidate costs, who is picked, what is booked. Reads load and membership at
 * one instant and leaves either a decision or a failure in the attempt. Confined to the step.
 */
final class Decider {

    /** Most candidates, and most exclusions, that an explanation lists. */
    private static final int EXPLAINED = 256;

    private final Partition partition;
    private final SelectionConfig config;
    private final CoreContext core;
    private final Roster roster;
    private final Eligibility eligibility;
    private final LoadView loads;
    private final Holdings holdings;
    private final Hints hints;
    private final CandidateTable table;
    private final CandidateReader reader;
    private final ChoicePipeline pipeline;
    private final boolean scores;
    private final String policyName;
    private final Regret regret = new Regret();

    Decider(Partition partition, String policyName, PolicyComponents policy) {
        this.partition = partition;
        this.policyName = policyName;
        core = partition.core();
        config = core.config();
        roster = partition.roster();
        eligibility = new Eligibility(partition.key(), roster, core.host());
        loads = new LoadView(roster, partition.ledger(), core.host().reportedLoad());
        holdings = new Holdings(roster);
        hints = new Hints(roster);
        table = new CandidateTable(
                config.scoring().hostCacheHitWeight(), config.scoring().diskCacheHitWeight());
        pipeline = new ChoicePipeline(policy, table);
        scores = !policy.scorers().isEmpty();
        reader = new CandidateReader(
                roster,
                loads,
                holdings,
                partition.ledger(),
                table,
                partition.tokensPerBlock(),
                config.tracking().activeBlocks());
    }

    Eligibility eligibility() {
        return eligibility;
    }

    LoadView loads() {
        return loads;
    }

    /** How an attempt stands before anything is chosen. */
    enum Standing {
        /** It cannot be served; the attempt has the failure. */
        FAILED,
        /** The worker it is bound to is overloaded, and it may go to no other one. */
        TARGET_OVERLOADED,
        /** Somebody may serve it; {@link #eligibility} says who. */
        READY
    }

    /** Finds who may serve the attempt, without choosing. */
    Standing look(Attempt attempt) {
        try {
            refuseTargetBesidePin(attempt);
            partition.refreshIfStale(attempt);
            if (attempt.failure() != null) {
                return Standing.FAILED;
            }
            if (!narrow(attempt)) {
                return Standing.TARGET_OVERLOADED;
            }
            eligibility.collect(attempt);
            if (eligibility.count() > 0) {
                return Standing.READY;
            }
            attempt.fail(eligibility.nothingFound(attempt));
        } catch (RuntimeException | Error e) {
            attempt.fail(typed(e));
        }
        return Standing.FAILED;
    }

    /** Cached tokens of the rank that holds most, among those that the last look found. */
    long bestCachedTokens(Attempt attempt) {
        holdings.of(attempt);
        double best = 0;
        if (holdings.known()) {
            for (int i = 0; i < eligibility.count(); i++) {
                int row = eligibility.rows()[i];
                best = Math.max(
                        best,
                        holdings.device(row)
                                + config.scoring().hostCacheHitWeight() * holdings.host(row)
                                + config.scoring().diskCacheHitWeight() * holdings.disk(row));
            }
        }
        long isl = attempt.prompt().islTokens();
        return Math.round(Math.min((double) isl, best * partition.tokensPerBlock()));
    }

    /** Chooses, and books where the attempt says so; whatever goes wrong is the attempt's failure. */
    void decide(Attempt attempt, long now) {
        Standing standing = look(attempt);
        if (standing == Standing.TARGET_OVERLOADED && attempt.target() != null) {
            attempt.fail(OverloadedException.session(attempt.target()));
        }
        if (standing == Standing.READY) {
            try {
                choose(attempt, now);
            } catch (RuntimeException | Error e) {
                attempt.fail(typed(e));
            }
        }
    }

    /** What gathers the explanation, with the ranks that are no candidates; {@code null} where nobody asked. */
    private @Nullable ExplanationCollector collector(Attempt attempt) {
        if (attempt.request().explanation() != SelectRequest.Explain.EVERY_CANDIDATE) {
            return null;
        }
        ExplanationCollector collector = new ExplanationCollector(table, EXPLAINED);
        eligibility.eachExcluded(attempt, collector::excluded);
        return collector;
    }

    /** What this partition's choices gave up. */
    Regret regret() {
        return regret;
    }

    /** What a failure of any kind is to the caller. */
    static SelectionException typed(Throwable e) {
        return e instanceof SelectionException known
                ? known
                : new PolicyFaultException(PolicyFaultException.Fault.THREW, "host port", -1, e);
    }

    private void choose(Attempt attempt, long now) {
        reader.fill(attempt, eligibility, now);
        PolicyContext context = context(attempt);
        int eligible = table.size();
        double best = attempt.request().pinnedWorker() == null ? reader.bestOverlap() : 0;
        ExplanationCollector collector = collector(attempt);
        if (pipeline.narrow(context, collector == null ? Rejections.IGNORED : collector) == 0) {
            attempt.fail(new NoEligibleWorkerException(partition.key(), Map.of(ExclusionReason.FILTERED, eligible)));
            return;
        }
        double[] costs = pipeline.score(context);
        int chosen = pipeline.pick(context, partition.random());
        double held = table.weightedOverlapBlocks(chosen);
        attempt.blocksLost(best == 0 ? 0 : Math.max(0, best - held));
        if (attempt.purpose() == Attempt.Purpose.BOOK) {
            regret.record((int) held, (int) Math.max(best, held), scores ? costs[chosen] - pipeline.lowestCost() : 0);
        }
        if (collector != null) {
            attempt.explained(collector.finish(policyName, pipeline, context, costs, chosen));
        }
        describe(attempt, chosen, now);
        if (attempt.purpose() == Attempt.Purpose.BOOK) {
            hint(attempt, table.ledgerRow(chosen));
            book(attempt, chosen, now);
        }
    }

    private void hint(Attempt attempt, int row) {
        OverlapScores scores = attempt.scores();
        if (attempt.wantsHint() && scores != null) {
            attempt.hint(hints.find(scores, row, holdings.device(row) + holdings.host(row)));
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
                return false;
            }
            attempt.spilled(true);
        }
        return true;
    }

    /** The request as the policy sees it: a session that is only advice shows as an affinity target. */
    private PolicyContext context(Attempt attempt) {
        SelectRequest request = attempt.request();
        AffinityTarget advised = attempt.advised();
        if (advised != null && !advised.equals(request.affinityTarget())) {
            request = request.toBuilder().affinityTarget(advised).build();
        }
        return new PolicyContext(request, partition.tokensPerBlock(), attempt.trackPrefill());
    }

    /** All ranks, whoever is eligible. */
    CandidateTable allRanks(Attempt attempt, long now) {
        eligibility.collectAll();
        reader.fill(attempt, eligibility, now);
        return table;
    }

    /** What each eligible rank would cost, or {@code null} if the policy does not score; an empty list if nobody is eligible. */
    @Nullable
    List<Cost> score(Attempt attempt, long now) {
        if (!scores) {
            return null;
        }
        partition.refreshIfStale(attempt);
        eligibility.collect(attempt);
        reader.fill(attempt, eligibility, now);
        PolicyContext context = context(attempt);
        List<Cost> costs = new ArrayList<>();
        if (pipeline.narrow(context, Rejections.IGNORED) > 0) {
            double[] sums = pipeline.score(context);
            for (int row = 0; row < table.size(); row++) {
                costs.add(new Cost(table.worker(row), roster.spec(table.ledgerRow(row)), sums[row]));
            }
        }
        return costs;
    }

    /** What one rank would cost. */
    record Cost(WorkerRank worker, WorkerSpec spec, double cost) {}

    private void describe(Attempt attempt, int chosen, long now) {
        int row = table.ledgerRow(chosen);
        long isl = attempt.prompt().islTokens();
        attempt.choose(roster.rank(row), roster.spec(row));
        attempt.lookedUp(
                attempt.scores(), attempt.rung().worse(partition.cache().trust().rungOf(roster.rank(row))));
        double cached = table.cachedTokens(chosen);
        // Half away from zero; the figure is never negative here, so this is what rounding means.
        long effective = Math.round(isl - cached);
        long potential = table.potentialDecodeBlocks(chosen);
        attempt.figures(cached, effective, potential, overlapOf(row));
        attempt.busy(decodeBusy(row, potential));
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

    private WorkerLoad loadOf(int row, long now) {
        loads.read(row, now);
        long active = loads.prefillTokens();
        long capacity = roster.batchTokens(row);
        Double threshold = config.prefillBusyThreshold();
        Boolean busy = threshold == null ? null : active > threshold * capacity;
        // Told as registered, reckoned with as saturated.
        WorkerSpec spec = roster.spec(row);
        Long told = spec.maxNumBatchedTokens();
        return new WorkerLoad(active, told == null ? capacity : told, spec.kvBlocksPerRank(), busy);
    }

    /** Cumulative tokens, each the most that any rank of the worker holds. */
    private Overlap overlapOf(int row) {
        if (!holdings.known()) {
            return Overlap.NONE;
        }
        if (roster.spec(row).rankCount() == 1) {
            return overlapOfRank(row);
        }
        Overlap most = Overlap.NONE;
        Map<Integer, Long> byRank = new HashMap<>();
        for (int each : roster.rowsOf(roster.rank(row).workerId())) {
            Overlap own = overlapOfRank(each);
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

    private Overlap overlapOfRank(int row) {
        long block = partition.tokensPerBlock();
        long gpu = block * holdings.device(row);
        long cpu = gpu + block * holdings.host(row);
        long disk = cpu + block * holdings.disk(row);
        if (disk == 0) {
            return Overlap.NONE;
        }
        return new Overlap(disk, gpu, cpu, disk, gpu == 0 ? Map.of() : Map.of(roster.rankNumber(row), gpu));
    }

    private void book(Attempt attempt, int chosen, long now) {
        int row = table.ledgerRow(chosen);
        PrefillHint hint = attempt.trackPrefill() ? hint(attempt) : PrefillHint.NONE;
        BookingTerms terms = new BookingTerms(
                attempt.bookingOn(roster.rank(row)),
                hint,
                attempt.request().expectedOutputTokens(),
                attempt.request().prompt().loraName(),
                attempt.ownership());
        if (partition.replicated() && partition.ledger().find(terms.id().selectionId()) != null) {
            attempt.fail(new ConflictException(
                    "selection id", terms.id().selectionId(), "taken meanwhile by a booking of a peer"));
            return;
        }
        LedgerEntry entry = partition.ledger().add(row, terms, attempt.prompt().trackingHashes(), now);
        attempt.booked(entry);
        int blocks = attempt.prompt().blockHashes().length;
        if (blocks > 0 && partition.cache().trust().followsEvents()) {
            attempt.served(new Served(blocks, holdings.device(row), attempt.matched()));
        }
        loads.booked(entry, hint.tokens(), table.potentialDecodeBlocks(chosen) - table.activeDecodeBlocks(chosen));
        partition.booked(entry);
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

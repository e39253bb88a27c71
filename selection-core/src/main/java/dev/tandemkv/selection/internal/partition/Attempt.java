package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.KvHint;
import dev.tandemkv.selection.LookupTimings;
import dev.tandemkv.selection.Overlap;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.WorkerLoad;
import dev.tandemkv.selection.explain.Explanation;
import dev.tandemkv.selection.host.RemoteIndex;
import dev.tandemkv.selection.internal.ledger.LedgerEntry;
import dev.tandemkv.selection.internal.ledger.Ownership;
import dev.tandemkv.selection.internal.queue.Waiter;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One request in one partition, from its hashes to its decision.
 *
 * <p>Handed from thread to thread, never shared: the caller's thread fills in what is asked, the partition step decides, whoever ran the
 * step reads the decision after it. The mailbox orders these.
 */
public final class Attempt {

    /** What is to come of it. */
    public enum Purpose {
        /** Choose, and wait if need be. */
        QUERY,
        /** Choose without waiting, and tell the load. */
        ADVISORY,
        /** Choose and book. */
        BOOK
    }

    /** How strictly a request is drawn to a target. */
    public enum TargetRule {
        NONE,
        /** The policy is told; the built-in one stays there while it is eligible. */
        ADVISED,
        /** Nothing else is a candidate while it is eligible. */
        REQUIRED
    }

    private final SelectRequest request;
    private final Purpose purpose;
    private final PreparedPrompt prompt;
    private final boolean trackPrefill;

    // ---- what is asked beside the request
    private @Nullable Set<Long> allowed;
    private @Nullable AffinityTarget target;
    private TargetRule targetRule = TargetRule.NONE;
    private @Nullable AffinityTarget required;
    private @Nullable AffinityTarget advised;
    private boolean spilled;
    private @Nullable Set<Long> available;
    private @Nullable String selectionId;
    private long attemptId;
    private Ownership ownership = Ownership.HANDLE;

    // ---- what the caches hold
    private @Nullable OverlapScores scores;
    private LadderRung rung = LadderRung.LOAD_ONLY;
    private Map<WorkerRank, RemoteIndex.Match> remote = Map.of();
    private int @Nullable [] sharedHits;
    private @Nullable LookupTimings timings;
    private boolean wantsHint;
    private boolean matched;
    private @Nullable Served served;

    // ---- in the queue
    private boolean mayWait = true;
    private @Nullable Waiter<Attempt> waiter;
    private boolean withdrawn;
    private boolean refreshing;
    private @Nullable Runnable whenDecided;

    // ---- the decision
    private @Nullable SelectionException failure;
    private @Nullable WorkerRank worker;
    private @Nullable WorkerSpec spec;
    private @Nullable LedgerEntry entry;
    private @Nullable WorkerLoad load;
    private @Nullable KvHint hint;
    private Overlap overlap = Overlap.NONE;
    private double cachedTokens;
    private long effectivePrefillTokens;
    private long potentialDecodeBlocks;
    private @Nullable Boolean decodeBusy;
    private double blocksLost;
    private @Nullable Explanation explanation;
    private long waitedNanos;

    public Attempt(SelectRequest request, Purpose purpose, PreparedPrompt prompt, boolean trackPrefill) {
        this.request = request;
        this.purpose = purpose;
        this.prompt = prompt;
        this.trackPrefill = trackPrefill;
    }

    // ---- asked

    public SelectRequest request() {
        return request;
    }

    public Purpose purpose() {
        return purpose;
    }

    public PreparedPrompt prompt() {
        return prompt;
    }

    /** Whether prefill load is read and charged. */
    public boolean trackPrefill() {
        return trackPrefill;
    }

    /** Worker ids to choose from, or {@code null} for all. */
    @Nullable
    Set<Long> allowed() {
        return allowed;
    }

    public void allowed(@Nullable Set<Long> workerIds) {
        allowed = workerIds;
    }

    /** Draws the request to a target. */
    public void steer(@Nullable AffinityTarget to, TargetRule rule) {
        target = to;
        targetRule = rule;
    }

    @Nullable
    AffinityTarget target() {
        return target;
    }

    TargetRule targetRule() {
        return targetRule;
    }

    /** The only target allowed, or {@code null}. */
    @Nullable
    AffinityTarget required() {
        return required;
    }

    void required(@Nullable AffinityTarget target) {
        required = target;
    }

    /** The target the policy is advised of, or {@code null}. */
    @Nullable
    AffinityTarget advised() {
        return advised;
    }

    void advised(@Nullable AffinityTarget target) {
        advised = target;
    }

    /** Whether the required target was overloaded and another rank was allowed instead. */
    public boolean spilled() {
        return spilled;
    }

    void spilled(boolean elsewhere) {
        spilled = elsewhere;
    }

    /** What the availability provider said, for the explanation. */
    @Nullable
    Set<Long> available() {
        return available;
    }

    void available(@Nullable Set<Long> workerIds) {
        available = workerIds;
    }

    /** Makes the decision a booking under this id. */
    public void book(String id, long attempt, Ownership by) {
        selectionId = id;
        attemptId = attempt;
        ownership = by;
    }

    /** The booking on a rank; only of an attempt that books. */
    BookingId bookingOn(WorkerRank rank) {
        if (selectionId == null) {
            throw new IllegalStateException("an attempt that books has an id");
        }
        return new BookingId(selectionId, rank, attemptId);
    }

    Ownership ownership() {
        return ownership;
    }

    // ---- caches

    public void lookedUp(@Nullable OverlapScores found, LadderRung onRung) {
        scores = found;
        rung = onRung;
    }

    /** Per rank what it holds; {@code null} where nothing was asked. */
    public @Nullable OverlapScores scores() {
        return scores;
    }

    /** What the knowledge of caches rests on. */
    public LadderRung rung() {
        return rung;
    }

    /** What another process knows. */
    void remote(Map<WorkerRank, RemoteIndex.Match> byRank) {
        remote = byRank;
    }

    Map<WorkerRank, RemoteIndex.Match> remote() {
        return remote;
    }

    /** Positions of the prompt's blocks that the shared cache holds, ascending; {@code null} where it did not answer. */
    public void sharedHits(int @Nullable [] positions) {
        sharedHits = positions;
    }

    int @Nullable [] sharedHits() {
        return sharedHits;
    }

    /** Whether the index knew any rank to hold the prompt's first block. */
    void matched(boolean anyRank) {
        matched = anyRank;
    }

    boolean matched() {
        return matched;
    }

    /** What serving the prompt will say of the cache signal, or {@code null}. */
    public @Nullable Served served() {
        return served;
    }

    void served(Served evidence) {
        served = evidence;
    }

    /** The lookup is to keep the names of the last blocks, so that the decision can hint where to fetch what its rank lacks. */
    public void wantHint() {
        wantsHint = true;
    }

    boolean wantsHint() {
        return wantsHint;
    }

    /** The lookups are over. */
    void timed(LookupTimings took) {
        timings = took;
    }

    /** What the lookups took, the last ones where it was asked twice; {@code null} while they run. */
    public @Nullable LookupTimings timings() {
        return timings;
    }

    // ---- in the queue

    /** Whether it may wait; a caller's own refusal to queue comes on top. */
    boolean mayWait() {
        return mayWait;
    }

    public void mustNotWait() {
        mayWait = false;
    }

    /** Its place in the queue, or {@code null}. */
    @Nullable
    Waiter<Attempt> waiter() {
        return waiter;
    }

    void waiter(@Nullable Waiter<Attempt> place) {
        waiter = place;
    }

    /** What to run, outside the step, once an attempt that waited is decided. */
    public void whenDecided(Runnable then) {
        whenDecided = then;
    }

    Runnable whenDecided() {
        if (whenDecided == null) {
            throw new IllegalStateException("an attempt that may wait has somebody to tell");
        }
        return whenDecided;
    }

    /** Nobody waits for the decision any more. */
    void withdraw() {
        withdrawn = true;
    }

    boolean isWithdrawn() {
        return withdrawn;
    }

    /** Its overlap is asked for again, after it left the queue. */
    void refreshing(boolean asked) {
        refreshing = asked;
    }

    boolean isRefreshing() {
        return refreshing;
    }

    // ---- decided

    /** Takes a failure back: the reason may pass. */
    void unfail() {
        failure = null;
    }

    public void fail(SelectionException cause) {
        failure = cause;
    }

    void choose(WorkerRank rank, WorkerSpec metadata) {
        worker = rank;
        spec = metadata;
    }

    void figures(double cached, long effectivePrefill, long potentialDecode, Overlap held) {
        cachedTokens = cached;
        effectivePrefillTokens = effectivePrefill;
        potentialDecodeBlocks = potentialDecode;
        overlap = held;
    }

    void busy(@Nullable Boolean decode) {
        decodeBusy = decode;
    }

    void load(WorkerLoad of) {
        load = of;
    }

    void hint(@Nullable KvHint where) {
        hint = where;
    }

    /** Where the chosen rank can fetch what it lacks, or {@code null}. */
    public @Nullable KvHint hint() {
        return hint;
    }

    void booked(LedgerEntry as) {
        entry = as;
    }

    void explained(@Nullable Explanation by) {
        explanation = by;
    }

    /** How it was decided, if the request asked. */
    public @Nullable Explanation explanation() {
        return explanation;
    }

    void blocksLost(double weighted) {
        blocksLost = weighted;
    }

    /** Why nothing was chosen, or {@code null}. */
    public @Nullable SelectionException failure() {
        return failure;
    }

    /** The chosen rank. */
    public WorkerRank worker() {
        if (worker == null) {
            throw new IllegalStateException("nothing was chosen");
        }
        return worker;
    }

    /** The chosen worker's metadata, as of the choice. */
    public WorkerSpec spec() {
        if (spec == null) {
            throw new IllegalStateException("nothing was chosen");
        }
        return spec;
    }

    /** The booking, or {@code null} if none was made. */
    public @Nullable LedgerEntry entry() {
        return entry;
    }

    /** Time spent waiting in the queue. */
    public long waitedNanos() {
        return waitedNanos;
    }

    void waited(long nanos) {
        waitedNanos = nanos;
    }

    public @Nullable WorkerLoad load() {
        return load;
    }

    public Overlap overlap() {
        return overlap;
    }

    public double cachedTokens() {
        return cachedTokens;
    }

    public long effectivePrefillTokens() {
        return effectivePrefillTokens;
    }

    public long potentialDecodeBlocks() {
        return potentialDecodeBlocks;
    }

    public @Nullable Boolean decodeBusy() {
        return decodeBusy;
    }

    /** Weighted blocks that the best eligible rank holds more than the chosen one. */
    public double blocksLost() {
        return blocksLost;
    }
}

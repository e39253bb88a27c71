package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.approximate.OverlayStats;
import dev.tandemkv.indexer.approximate.PredictedLease;
import dev.tandemkv.indexer.approximate.PredictedOverlay;
import dev.tandemkv.indexer.dump.PeerDumpWriter;
import dev.tandemkv.indexer.hash.BlockHashes;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.IndexOfflineException;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.config.IndexConfig;
import dev.tandemkv.selection.config.IndexConfig.ApproximateCachePolicy;
import dev.tandemkv.selection.config.IndexConfig.OnFailure;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.RemoteIndex;
import dev.tandemkv.selection.host.SharedCache;
import java.io.IOException;
import java.time.Duration;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jctools.queues.atomic.MpmcAtomicArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is known of the caches of one partition's ranks, and how well. Thread-safe: lookups run on the callers' threads and never wait.
 *
 * <p>Up to three sources: the index that events fill, or another process that is asked instead; and what earlier bookings imply, either
 * beside them for a short time or alone. Which of them a lookup rested on is its {@link LadderRung}; one that failed drops the lookup to
 * the next, visibly, unless the configuration says to fail.
 *
 * <p>Answers are written into scratch from a pool, so that a lookup allocates nothing once the pool is warm.
 */
public final class CacheView {

    private static final Logger LOG = LoggerFactory.getLogger(CacheView.class);
    private static final int POOLED = 64;

    private final PartitionKey key;
    private final int blockSize;
    private final CoreContext core;
    private final PrefixIndex index;
    private final SourceTraits traits;
    private final @Nullable RemoteIndex remote;
    private final @Nullable PredictedOverlay assumed;
    private final CacheTrust trust;
    /** The processes behind ranks with a modelled cache, where they are known. */
    private final Map<WorkerRank, String> incarnations = new ConcurrentHashMap<>();

    private final MpmcAtomicArrayQueue<OverlapScores> pool = new MpmcAtomicArrayQueue<>(POOLED);
    /** Those that keep the names of the last blocks. */
    private final MpmcAtomicArrayQueue<OverlapScores> namingPool = new MpmcAtomicArrayQueue<>(POOLED);

    public CacheView(
            PartitionKey key,
            int blockSize,
            CoreContext core,
            PrefixIndex index,
            SourceTraits traits,
            CacheTrust trust) {
        this.key = key;
        this.blockSize = blockSize;
        this.core = core;
        this.index = index;
        this.traits = traits;
        this.trust = trust;
        IndexConfig config = core.config().index();
        remote = core.host().index() instanceof KvIndexSource.Remote source ? source.client() : null;
        Duration assumedFor = config.useKvEvents() || remote != null ? config.predictedTtl() : config.approximateTtl();
        assumed = assumedFor == null
                ? null
                : PredictedOverlay.builder(index, core.ticker(), core.scheduler())
                        .ttl(assumedFor)
                        .build();
    }

    /** How far it is believed. */
    public CacheTrust trust() {
        return trust;
    }

    /** The index that events go into. */
    public PrefixIndex index() {
        return index;
    }

    /** Whether lookups can tell by what names the engines know the blocks they hold: nothing here is assumed or known elsewhere. */
    boolean namesBlocks() {
        return trust.followsEvents() && assumed == null;
    }

    /** What is assumed from bookings, and was; empty where nothing is. */
    public Optional<OverlayStats> assumptions() {
        return Optional.ofNullable(assumed).map(PredictedOverlay::stats);
    }

    /** Whether a shared cache is attached. */
    public boolean hasSharedCache() {
        return core.host().sharedCache() != null;
    }

    /** What is dumped of the caches: what events said, or what bookings imply where there are no events; nothing of another process's. */
    public void dump(PeerDumpWriter into) throws IOException {
        if (remote != null) {
            return;
        }
        if (trust.best() == LadderRung.APPROXIMATE && assumed != null) {
            into.partition(key, blockSize, assumed.contents());
        } else {
            into.partition(key, blockSize, index);
        }
    }

    // ---- asking

    /**
     * Asks what each rank, and the shared cache, holds of the attempt's prompt. An index that fails leaves the attempt one rung lower, or
     * failed, as configured.
     *
     * @return {@code null} if the answer is there, else a stage that completes, never with an error, when it is
     */
    public @Nullable CompletionStage<?> lookUp(Attempt attempt) {
        if (attempt.prompt().blockHashes().length == 0) {
            attempt.lookedUp(null, trust.best());
            attempt.timed(attempt.prompt().timings(0, 0, null, false));
            return null;
        }
        long began = core.ticker().read();
        trust.look(began);
        CompletionStage<?> shared = askShared(attempt);
        CompletionStage<?> there = lookUpRanks(attempt);
        if (there == null && shared == null) {
            long took = core.ticker().read() - began;
            attempt.timed(attempt.prompt().timings(took, took, null, false));
            return null;
        }
        return timed(attempt, began, there, shared);
    }

    private CompletionStage<?> timed(
            Attempt attempt, long began, @Nullable CompletionStage<?> there, @Nullable CompletionStage<?> shared) {
        Ticker ticker = core.ticker();
        CompletionStage<Long> indexed = there == null
                ? CompletableFuture.completedStage(ticker.read() - began)
                : there.thenApply(answer -> ticker.read() - began);
        if (shared == null) {
            return indexed.thenAccept(took -> attempt.timed(attempt.prompt().timings(took, took, null, false)));
        }
        return indexed.thenCombine(shared.thenApply(answer -> ticker.read() - began), (index, cache) -> {
            boolean failed = attempt.sharedHits() == null;
            attempt.timed(attempt.prompt().timings(Math.max(index, cache), index, cache, failed));
            return attempt;
        });
    }

    /** As {@link #lookUp}, of the ranks alone. */
    public @Nullable CompletionStage<?> lookUpRanks(Attempt attempt) {
        if (attempt.prompt().blockHashes().length == 0) {
            attempt.lookedUp(null, trust.best());
            return null;
        }
        lookUpHere(attempt);
        return remote == null ? null : lookUpThere(attempt, remote);
    }

    /**
     * A second lookup on its way.
     *
     * @param answer completes, never with an error, when it is there
     * @param settle takes it, or what was known before where it is worse; to be run inside the step
     */
    record Refresh(CompletionStage<?> answer, Runnable settle) {}

    /**
     * Asks again for a request that has waited long. What fails leaves it the answer it had.
     *
     * @return {@code null} if the answer is there and taken
     */
    @Nullable
    Refresh refresh(Attempt attempt) {
        OverlapScores before = attempt.scores();
        LadderRung rung = attempt.rung();
        int[] shared = attempt.sharedHits();
        attempt.lookedUp(null, rung);
        CompletionStage<?> later = lookUp(attempt);
        if (later == null) {
            keepBetter(attempt, before, rung, shared);
            return null;
        }
        return new Refresh(later, () -> keepBetter(attempt, before, rung, shared));
    }

    private void keepBetter(Attempt attempt, @Nullable OverlapScores before, LadderRung rung, int @Nullable [] shared) {
        if (attempt.sharedHits() == null) {
            attempt.sharedHits(shared);
        }
        boolean worse = attempt.rung() != rung && attempt.rung().worse(rung) == attempt.rung();
        if (worse || attempt.failure() != null) {
            attempt.unfail();
            attempt.lookedUp(before, rung);
        } else if (before != null) {
            giveBack(attempt, before);
        }
    }

    private void giveBack(Attempt attempt, OverlapScores scores) {
        (attempt.wantsHint() ? namingPool : pool).offer(scores);
    }

    /** Which blocks of a token prompt the shared cache holds; a failure leaves the attempt without them. */
    private @Nullable CompletionStage<?> askShared(Attempt attempt) {
        SharedCache shared = core.host().sharedCache();
        if (shared == null || !(attempt.request().prompt() instanceof Prompt.Tokens tokens)) {
            return null;
        }
        int blocks = attempt.prompt().blockHashes().length;
        return answerOf(() -> shared.checkBlocks(tokens.tokenIds(), blockSize, tokens.cacheNamespace()))
                .thenApply(ranges -> positions(ranges, blocks))
                .handle((positions, failure) -> {
                    if (failure != null) {
                        LOG.warn("the shared cache could not be asked for {}", key, failure);
                        core.counters().sharedCacheErrors.increment();
                    }
                    attempt.sharedHits(positions);
                    return attempt;
                });
    }

    /** What a port answers, whichever way it may fail: it throws, it answers no stage, its stage fails. */
    private static <T> CompletionStage<T> answerOf(Supplier<@Nullable CompletionStage<T>> port) {
        try {
            CompletionStage<T> answer = port.get();
            return answer != null
                    ? answer
                    : CompletableFuture.failedStage(new IllegalStateException("the port answered no stage"));
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /** The positions of some ranges, ascending and once each, as far as the prompt has blocks. */
    static int[] positions(List<SharedCache.Range> ranges, int blocks) {
        BitSet held = new BitSet(blocks);
        for (SharedCache.Range range : ranges) {
            held.set(Math.min(range.from(), blocks), Math.min(range.to(), blocks));
        }
        return held.stream().toArray();
    }

    /** The part of {@link #lookUp} that never waits. */
    void lookUpHere(Attempt attempt) {
        long[] hashes = attempt.prompt().blockHashes();
        if (hashes.length == 0) {
            return;
        }
        OverlapScores scores = attempt.scores() == null ? scratchFor(attempt) : attempt.scores();
        LadderRung rung;
        try {
            index.findTiered(hashes, hashes.length, scores);
            attempt.matched(scores.nextSlot(0) >= 0);
            rung = trust.followsEvents() ? trust.judge(scores, index) : trust.best();
            if (remote == null) {
                trust.answered();
            }
        } catch (RuntimeException e) {
            scores = scratchFor(attempt);
            CacheTrust.forgetAll(scores);
            rung = dropped(attempt, e);
        }
        if (assumed != null) {
            OverlapScores side = scratch();
            boolean merged = assumed.merge(hashes, hashes.length, scores, side);
            pool.offer(side);
            rung = merged ? rung : rung.worse(trust.best() == LadderRung.APPROXIMATE ? LadderRung.LOAD_ONLY : rung);
        }
        attempt.lookedUp(scores, rung);
    }

    private CompletionStage<?> lookUpThere(Attempt attempt, RemoteIndex client) {
        return answerOf(() -> client.lookup(key, attempt.prompt().blockHashes()))
                .thenApply(CacheView::byRank)
                .handle((byRank, failure) -> {
                    if (failure != null) {
                        attempt.lookedUp(attempt.scores(), dropped(attempt, failure));
                    } else {
                        trust.answered();
                        attempt.remote(byRank);
                    }
                    return attempt;
                });
    }

    private static Map<WorkerRank, RemoteIndex.Match> byRank(List<RemoteIndex.Match> matches) {
        Map<WorkerRank, RemoteIndex.Match> byRank = new HashMap<>();
        matches.forEach(match -> byRank.put(match.rank(), match));
        return byRank;
    }

    /** A source failed: one rung lower, or the end of the selection. */
    private LadderRung dropped(Attempt attempt, Throwable cause) {
        trust.failed();
        if (core.config().index().onFailure() == OnFailure.FAIL) {
            attempt.fail(new IndexOfflineException(key, cause));
            return LadderRung.LOAD_ONLY;
        }
        LOG.warn("lookup in {} failed, the selection goes on without it", key, cause);
        return assumed == null ? LadderRung.LOAD_ONLY : LadderRung.APPROXIMATE;
    }

    private OverlapScores scratchFor(Attempt attempt) {
        if (!attempt.wantsHint()) {
            return scratch();
        }
        OverlapScores pooled = namingPool.poll();
        return pooled == null ? OverlapScores.withLastHashes() : pooled;
    }

    private OverlapScores scratch() {
        OverlapScores pooled = pool.poll();
        return pooled == null ? OverlapScores.create() : pooled;
    }

    /** Gives an attempt's scratch back; the attempt must not read it any more. */
    public void release(Attempt attempt) {
        OverlapScores scores = attempt.scores();
        if (scores != null) {
            attempt.lookedUp(null, attempt.rung());
            giveBack(attempt, scores);
        }
    }

    // ---- learning

    /**
     * Assumes that a booked rank will hold a prompt; only where assumptions count.
     *
     * @param blockHashes local hash of each full block
     * @param tailBlocks further blocks, which no hash names
     * @return what keeps the blocks in use until it is closed, where the rank's cache is modelled; else {@code null}
     */
    public @Nullable PredictedLease record(BookingId booking, long[] blockHashes, long tailBlocks) {
        if (assumed == null || blockHashes.length == 0) {
            return null;
        }
        BlockHashes blocks = BlockHashes.of(blockHashes);
        if (!modelsCapacity()) {
            assumed.record(booking.worker(), blocks);
            return null;
        }
        String attempt = Long.toUnsignedString(booking.attemptId()) + ' ' + booking.selectionId();
        String incarnation = incarnations.get(booking.worker());
        return assumed.acquire(
                booking.worker(), incarnation, attempt, blocks, (int) Math.min(Integer.MAX_VALUE, tailBlocks));
    }

    /** As {@link #record(BookingId, long[], long)} for a host that dispatches by itself: nothing is kept in use. */
    public void record(WorkerRank worker, long[] blockHashes) {
        if (assumed != null && blockHashes.length > 0) {
            assumed.record(worker, BlockHashes.of(blockHashes));
        }
    }

    private boolean modelsCapacity() {
        return core.config().index().approximateCachePolicy() == ApproximateCachePolicy.LRU;
    }

    // ---- ranks

    /** The rank's slot as of now, or -1 if it has none. */
    int slotOf(WorkerRank rank) {
        return index.slotOf(rank);
    }

    /** The rank's slot in the answers, or -1 if the index has no place for it. */
    int slotFor(WorkerRank rank, WorkerSpec spec) {
        int known = index.slotOf(rank);
        int slot = known >= 0 ? known : index.register(rank, traits);
        trust.joined(rank);
        describe(rank, spec);
        return slot;
    }

    /** Takes in what the metadata says of a rank's cache. */
    void describe(WorkerRank rank, WorkerSpec spec) {
        if (assumed == null || !modelsCapacity()) {
            return;
        }
        String incarnation = spec.incarnation();
        if (incarnation == null) {
            incarnations.remove(rank);
        } else {
            incarnations.put(rank, incarnation);
        }
        Long blocks = spec.kvBlocksPerRank();
        assumed.setCapacity(rank, incarnation, blocks == null ? OptionalLong.empty() : OptionalLong.of(blocks));
    }

    /** Changes whenever a slot may stand for another rank. */
    long slotsEpoch() {
        return index.slotsEpoch();
    }

    /** Drops what a rank held. */
    public void forget(WorkerRank rank) {
        trust.left(rank);
        index.removeRank(rank);
        if (assumed != null) {
            assumed.removeRank(rank);
            incarnations.remove(rank);
        }
    }

    /** Drops what every rank of a worker held, also ranks known from events alone. */
    public void forget(long workerId) {
        trust.left(workerId);
        index.removeWorker(workerId);
        if (assumed != null) {
            assumed.removeWorker(workerId);
            incarnations.keySet().removeIf(rank -> rank.workerId() == workerId);
        }
    }

    void close() {
        if (assumed != null) {
            assumed.close();
        }
        index.close();
    }
}

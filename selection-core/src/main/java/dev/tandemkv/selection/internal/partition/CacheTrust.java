package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.IndexObserver;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.FeedObserver;
import dev.tandemkv.indexer.event.RankStatus;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.indexer.health.SignalAlarm;
import dev.tandemkv.indexer.health.SignalHealth;
import dev.tandemkv.indexer.health.SignalHealthConfig;
import dev.tandemkv.indexer.health.SignalObserver;
import dev.tandemkv.selection.CacheSignal;
import dev.tandemkv.selection.config.IndexConfig;
import dev.tandemkv.selection.host.KvEventIngress;
import dev.tandemkv.selection.host.KvIndexSource;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far the knowledge of one partition's caches is believed: the rungs of D-LADDER, for the partition and for each rank, and the alarms.
 *
 * <p>Evidence comes from the index (what engines announce), from prompts that were served (an engine that serves blocks it did not hold
 * announces them), and from the ingress, which is asked once a second. A rank falls below the exact index
 * <ul>
 *   <li>while its ingress says so, for instance because too many of its stores are orphans;
 *   <li>while nothing was ever heard of it although it served a prompt that it did not hold;
 *   <li>while it has served so many of those since its last event that its signal must be dead.
 * </ul>
 * Its part of an answer is then dropped, and what bookings imply takes its place where that is known. The whole partition falls while {@link
 * SignalHealth} finds the signal dead, or matching nothing.
 *
 * <p>Thread-safe. {@link #lock} guards what is derived from the evidence (the two sets and the flags), which is read without; nothing
 * foreign is called under it.
 */
public final class CacheTrust {

    private static final Logger LOG = LoggerFactory.getLogger(CacheTrust.class);
    private static final long LOOK_EVERY = Duration.ofSeconds(1).toNanos();

    private final PartitionKey key;
    private final CoreContext core;
    /** Where events come from; {@code null} where none are followed. */
    private final @Nullable KvEventIngress ingress;

    private final LadderRung best;
    private final LadderRung fallback;
    private final int patience;
    private final SignalHealth health;
    private final FeedObserver exactness;
    private final Map<WorkerRank, Signal> signals = new ConcurrentHashMap<>();
    private final AtomicLong nextLook;

    /** Takes what must not run inside a step; the partition's way, once there is one. */
    private volatile Consumer<Runnable> telling;

    private final Object lock = new Object();
    private volatile Set<WorkerRank> below = Set.of();
    /** Those of them of which the index may hold something. */
    private volatile Set<WorkerRank> dropped = Set.of();

    private volatile boolean silent;
    private volatile boolean mismatched;
    private volatile boolean failing;

    /** What is known of one rank's events. */
    private static final class Signal {
        volatile boolean heard;
        volatile boolean doubtedByIngress;
        /** Prompts served that must have made events, since the last event. */
        final AtomicInteger unanswered = new AtomicInteger();

        boolean isBelieved(int patience) {
            return !doubtedByIngress && unanswered.get() < (heard ? patience : 1);
        }
    }

    public CacheTrust(PartitionKey key, CoreContext core) {
        this.key = key;
        this.core = core;
        IndexConfig config = core.config().index();
        KvIndexSource source = core.host().index();
        ingress = config.useKvEvents() && source instanceof KvIndexSource.Owned owned ? owned.ingress() : null;
        boolean exact = config.useKvEvents() || source instanceof KvIndexSource.Remote;
        best = exact ? LadderRung.EXACT_INDEX : LadderRung.APPROXIMATE;
        fallback = exact && config.predictedTtl() != null ? LadderRung.APPROXIMATE : LadderRung.LOAD_ONLY;
        patience = config.signalPatience();
        SignalHealthConfig defaults = SignalHealthConfig.DEFAULTS;
        health = new SignalHealth(
                new SignalHealthConfig(patience, defaults.reports(), defaults.tolerance(), defaults.wrongShare()),
                new Alarms());
        exactness = health.feedObserver();
        nextLook = new AtomicLong(core.ticker().read());
        telling = core.afterwards()::run;
    }

    /** Observers are told this way from now on. */
    void tellThrough(Consumer<Runnable> afterTheStep) {
        telling = afterTheStep;
    }

    /** What a lookup rests on while nothing is wrong. */
    public LadderRung best() {
        return best;
    }

    /** The rung below that: what bookings imply where that is kept beside, else load alone. */
    LadderRung fallback() {
        return fallback;
    }

    boolean followsEvents() {
        return ingress != null;
    }

    // ---- evidence

    /** To be given to the index. */
    public IndexObserver indexObserver() {
        IndexObserver told = health.indexObserver();
        return (rank, event, outcome) -> {
            told.onEvent(rank, event, outcome);
            Signal signal = signals.get(rank);
            if (signal != null && (!signal.heard || signal.unanswered.get() > 0)) {
                signal.heard = true;
                signal.unanswered.set(0);
                weigh(rank);
            }
        };
    }

    /** A booking's prompt was served: its prefill ended, or all of it. */
    public void served(WorkerRank rank, Served prompt) {
        health.onLookup(prompt.promptBlocks(), prompt.makesEvents() ? prompt.bestMatch() : prompt.promptBlocks());
        Signal signal = signals.get(rank);
        if (signal != null && prompt.makesEvents()) {
            int unanswered = signal.unanswered.incrementAndGet();
            if (unanswered == 1 || unanswered == patience) {
                weigh(rank);
            }
        }
    }

    /** An engine told how many tokens of a prompt it found cached. */
    public void reported(long islTokens, double predicted, long cached) {
        health.onReport(islTokens, Math.round(predicted), cached);
    }

    /** A lookup was answered, or failed; costs nothing while that does not change. */
    void answered() {
        if (failing) {
            health.onLookupAnswered();
        }
    }

    void failed() {
        health.onLookupFailed();
    }

    void joined(WorkerRank rank) {
        if (followsEvents()) {
            signals.computeIfAbsent(rank, r -> new Signal());
        }
    }

    void left(WorkerRank rank) {
        signals.remove(rank);
        exactness.onClosed(rank);
        weigh(rank);
    }

    void left(long workerId) {
        signals.keySet().stream()
                .filter(rank -> rank.workerId() == workerId)
                .toList()
                .forEach(this::left);
    }

    /** Asks the ingress, at most once a second, what its feeds say of the ranks. */
    void look(long now) {
        KvEventIngress from = ingress;
        long due = nextLook.get();
        if (from == null || now - due < 0 || !nextLook.compareAndSet(due, now + LOOK_EVERY)) {
            return;
        }
        signals.forEach((rank, signal) -> {
            RankStatus status = statusOf(from, rank);
            if (status != null) {
                exactness.onExactness(rank, status.exactness());
            }
            boolean doubted = status != null && status.rung() != LadderRung.EXACT_INDEX;
            if (doubted != signal.doubtedByIngress) {
                signal.doubtedByIngress = doubted;
                weigh(rank);
            }
        });
    }

    private @Nullable RankStatus statusOf(KvEventIngress from, WorkerRank rank) {
        try {
            return from.status(key, rank).orElse(null);
        } catch (RuntimeException e) {
            LOG.warn("no status of {}", rank, e);
            return null;
        }
    }

    /** Puts a rank where its evidence says, and tells where that is new. */
    private void weigh(WorkerRank rank) {
        Signal signal = signals.get(rank);
        boolean believed;
        synchronized (lock) {
            believed = signal == null || signal.isBelieved(patience);
            if (believed != below.contains(rank)) {
                return;
            }
            below = with(below, rank, !believed);
            dropped = with(dropped, rank, !believed && signal != null && (signal.heard || signal.doubtedByIngress));
        }
        if (signal == null) {
            return;
        }
        LadderRung rung = believed ? best : fallback;
        telling.accept(() -> core.observer().onRankRung(key, rank.workerId(), rank.rank(), rung));
    }

    private static Set<WorkerRank> with(Set<WorkerRank> ranks, WorkerRank rank, boolean in) {
        Set<WorkerRank> changed = new HashSet<>(ranks);
        if (in ? changed.add(rank) : changed.remove(rank)) {
            return Set.copyOf(changed);
        }
        return ranks;
    }

    // ---- what follows from it

    /**
     * Drops from an index's answer what is not to be believed.
     *
     * @return what the answer rests on
     */
    LadderRung judge(OverlapScores scores, PrefixIndex index) {
        if (silent) {
            forgetAll(scores);
            return fallback;
        }
        for (WorkerRank rank : dropped) {
            scores.forget(index.slotOf(rank));
        }
        return mismatched && scores.nextSlot(0) < 0 ? fallback : best;
    }

    /** Leaves nothing of an answer, or of one that the scratch held before. */
    static void forgetAll(OverlapScores scores) {
        for (int slot = scores.nextSlot(0); slot >= 0; slot = scores.nextSlot(slot + 1)) {
            scores.forget(slot);
        }
    }

    /** What is believed of one rank. */
    LadderRung rungOf(WorkerRank rank) {
        return below.contains(rank) ? fallback : best;
    }

    /** How things stand. */
    public CacheSignal signal() {
        boolean lower = silent || mismatched || failing;
        return new CacheSignal(
                lower ? fallback : best,
                health.raised(),
                below.stream().sorted(WorkerRank.UNSIGNED_ORDER).toList());
    }

    /** What the feed behind a rank says of it; empty where there is none. */
    public Optional<RankStatus> status(WorkerRank rank) {
        return ingress == null ? Optional.empty() : Optional.ofNullable(statusOf(ingress, rank));
    }

    /** Derives the flags from the alarms, and hands these on. */
    private final class Alarms implements SignalObserver {

        @Override
        public void onRaised(SignalAlarm alarm) {
            update();
            LOG.warn("cache signal of {}: {}", key, alarm);
            core.counters().alarms.increment();
            telling.accept(() -> core.observer().onSignalAlarm(key, alarm));
        }

        @Override
        public void onCleared(SignalAlarm alarm) {
            update();
            LOG.info("cache signal of {}: {} is over", key, alarm);
            telling.accept(() -> core.observer().onSignalCleared(key, alarm));
        }

        private void update() {
            synchronized (lock) {
                Set<SignalAlarm> raised = health.raised();
                silent = raised.contains(SignalAlarm.NO_EVENTS);
                mismatched = raised.contains(SignalAlarm.ZERO_OVERLAP);
                failing = raised.contains(SignalAlarm.LOOKUP_FAILED);
            }
        }
    }
}

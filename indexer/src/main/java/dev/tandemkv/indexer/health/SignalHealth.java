package dev.tandemkv.indexer.health;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.IndexObserver;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.FeedObserver;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The alarm for a cache signal that is dead or means something else than the router believes, from which selection would otherwise degrade to
 * load alone without a word (decision D-LADDER). One instance per partition, or per rank to tell ranks apart.
 *
 * <p>It is fed with samples: the index's events ({@link #indexObserver}), the trust in its ranks ({@link #feedObserver}), every lookup and, where
 * engines report them, cached tokens. It owns no thread and reads no clock: it counts decisions. Thread-safe; O(1) per sample; the observer is
 * called outside the lock.
 */
public final class SignalHealth {

    private static final Logger LOG = LoggerFactory.getLogger(SignalHealth.class);

    private static final byte RIGHT = 0;
    private static final byte OVER = 1;
    private static final byte UNDER = 2;

    private final SignalHealthConfig config;
    private final SignalObserver observer;
    private final Object lock = new Object();
    private final Set<SignalAlarm> raised = EnumSet.noneOf(SignalAlarm.class);
    private final Set<WorkerRank> degraded = new HashSet<>();

    /** Alarms that are not what the observer was told last. */
    private final Set<SignalAlarm> untold = EnumSet.noneOf(SignalAlarm.class);

    /** Blocks that engines announced, ever. */
    private long indexedBlocks;

    /** Lookups since the last event, of prompts that no rank held in full: serving those must have stored blocks. */
    private long lookupsWithoutEvent;

    /** Lookups since the last match, of prompts with at least one complete block, while blocks were indexed. */
    private long lookupsWithoutMatch;

    /** The last verdicts, as a ring. */
    private final byte[] verdicts;

    private long reports;
    private int over;
    private int under;

    public SignalHealth(SignalHealthConfig config, SignalObserver observer) {
        this.config = Objects.requireNonNull(config, "config");
        this.observer = Objects.requireNonNull(observer, "observer");
        verdicts = new byte[config.reports()];
    }

    /** To be given to the index: counts what engines announce. */
    public IndexObserver indexObserver() {
        return (rank, event, outcome) -> {
            if (event instanceof KvEvent.Stored stored) {
                onEvent(outcome.applied() ? stored.blocks() : 0);
            } else {
                onEvent(0);
            }
        };
    }

    /** To be given to the feed: follows which ranks are degraded. */
    public FeedObserver feedObserver() {
        return new FeedObserver() {
            @Override
            public void onExactness(WorkerRank rank, Exactness exactness) {
                follow(rank, exactness.kind() == Exactness.Kind.DEGRADED);
            }

            @Override
            public void onClosed(WorkerRank rank) {
                follow(rank, false);
            }
        };
    }

    private void follow(WorkerRank rank, boolean isDegraded) {
        sample(() -> {
            if (isDegraded) {
                degraded.add(rank);
            } else {
                degraded.remove(rank);
            }
            judge(SignalAlarm.RANK_DEGRADED, !degraded.isEmpty());
        });
    }

    /** An engine said something, and this many blocks were stored. */
    public void onEvent(int storedBlocks) {
        boolean changed;
        synchronized (lock) {
            indexedBlocks += storedBlocks;
            lookupsWithoutEvent = 0;
            judge(SignalAlarm.NO_EVENTS, false);
            changed = !untold.isEmpty();
        }
        if (changed) {
            tellChanges();
        }
    }

    /**
     * A prompt was looked up for a request that will be served.
     *
     * @param promptBlocks its complete blocks; a prompt without one says nothing
     * @param bestOverlap blocks held by the rank that holds the most of it
     */
    public void onLookup(int promptBlocks, int bestOverlap) {
        if (promptBlocks <= 0) {
            return;
        }
        boolean changed;
        synchronized (lock) {
            if (bestOverlap < promptBlocks) {
                lookupsWithoutEvent++;
            }
            lookupsWithoutMatch = bestOverlap > 0 || indexedBlocks == 0 ? 0 : lookupsWithoutMatch + 1;
            if (lookupsWithoutEvent >= config.lookups()) {
                judge(SignalAlarm.NO_EVENTS, true);
            }
            judge(SignalAlarm.ZERO_OVERLAP, lookupsWithoutMatch >= config.lookups());
            changed = !untold.isEmpty();
        }
        if (changed) {
            tellChanges();
        }
    }

    /** A lookup failed. */
    public void onLookupFailed() {
        sample(() -> judge(SignalAlarm.LOOKUP_FAILED, true));
    }

    /** A lookup was answered. */
    public void onLookupAnswered() {
        sample(() -> judge(SignalAlarm.LOOKUP_FAILED, false));
    }

    /**
     * An engine reported how many tokens of a prompt it found in its cache.
     *
     * @param promptTokens length of the prompt; at least 1, else the report says nothing
     * @param predicted cached tokens according to the index, when the request was routed
     * @param reported cached tokens according to the engine
     */
    public void onReport(long promptTokens, long predicted, long reported) {
        if (promptTokens <= 0) {
            return;
        }
        double off = ((double) predicted - reported) / promptTokens;
        byte verdict = Math.abs(off) <= config.tolerance() ? RIGHT : off > 0 ? OVER : UNDER;
        sample(() -> {
            int place = (int) (reports % verdicts.length);
            if (reports >= verdicts.length) {
                count(verdicts[place], -1);
            }
            verdicts[place] = verdict;
            count(verdict, 1);
            reports++;
            boolean enough = reports >= verdicts.length;
            judge(SignalAlarm.OVERPREDICTED, enough && over > config.wrongShare() * verdicts.length);
            judge(SignalAlarm.UNDERPREDICTED, enough && under > config.wrongShare() * verdicts.length);
        });
    }

    private void count(byte verdict, int by) {
        if (verdict == OVER) {
            over += by;
        } else if (verdict == UNDER) {
            under += by;
        }
    }

    /** The alarms that hold now. */
    public Set<SignalAlarm> raised() {
        synchronized (lock) {
            return raised.isEmpty() ? Set.of() : Collections.unmodifiableSet(EnumSet.copyOf(raised));
        }
    }

    /** Lookups in a row that matched nothing although blocks are indexed: the counter of "events indexed but zero overlap". */
    public long lookupsWithoutMatch() {
        synchronized (lock) {
            return lookupsWithoutMatch;
        }
    }

    /** Lookups of prompts that nobody held in full since the last event. */
    public long lookupsWithoutEvent() {
        synchronized (lock) {
            return lookupsWithoutEvent;
        }
    }

    private void judge(SignalAlarm alarm, boolean holds) {
        boolean changed = holds ? raised.add(alarm) : raised.remove(alarm);
        if (changed && !untold.remove(alarm)) {
            untold.add(alarm);
        }
    }

    private void sample(Runnable change) {
        synchronized (lock) {
            change.run();
        }
        tellChanges();
    }

    private void tellChanges() {
        List<SignalAlarm> began;
        List<SignalAlarm> ended;
        synchronized (lock) {
            began = untold.stream().filter(raised::contains).toList();
            ended = untold.stream().filter(a -> !raised.contains(a)).toList();
            untold.clear();
        }
        began.forEach(alarm -> tell(() -> observer.onRaised(alarm)));
        ended.forEach(alarm -> tell(() -> observer.onCleared(alarm)));
    }

    private static void tell(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException e) {
            LOG.warn("An observer of the cache signal failed", e);
        }
    }
}

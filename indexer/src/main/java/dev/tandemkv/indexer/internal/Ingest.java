package dev.tandemkv.indexer.internal;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.EventOutcome;
import dev.tandemkv.indexer.IndexObserver;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jctools.queues.atomic.MpscUnboundedAtomicArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way in for changes: a lock, and a queue for those who will not wait for it. Whoever holds the lock first applies what is queued, and whoever lets
 * go of it looks once more, so nothing stays behind and no thread is needed. The observer is called after the lock is released.
 */
public final class Ingest {

    private static final Logger LOG = LoggerFactory.getLogger(Ingest.class);

    private record Queued(WorkerRank rank, KvEvent event) {}

    private record Applied(WorkerRank rank, KvEvent event, EventOutcome outcome) {}

    private final IndexCore core;
    private final int capacity;
    private final @Nullable IndexObserver observer;
    private final ReentrantLock lock = new ReentrantLock();
    private final MpscUnboundedAtomicArrayQueue<Queued> queue = new MpscUnboundedAtomicArrayQueue<>(256);
    /** Events in the queue. */
    private final AtomicInteger waiting = new AtomicInteger();

    private final AtomicInteger highWater = new AtomicInteger();
    private final @Nullable Thread writer;
    private volatile boolean closed;

    /** Outcomes that the observer has not heard of; guarded by the lock. */
    private List<Applied> untold = new ArrayList<>();

    public Ingest(IndexCore core, int capacity, @Nullable IndexObserver observer, @Nullable ThreadFactory writers) {
        this.core = core;
        this.capacity = capacity;
        this.observer = observer;
        writer = writers == null ? null : writers.newThread(this::runWriter);
        if (writer != null) {
            writer.start();
        }
    }

    public EventOutcome apply(WorkerRank rank, KvEvent event) {
        EventOutcome outcome;
        List<Applied> told;
        lock.lock();
        try {
            drain();
            outcome = applyHere(rank, event);
            told = takeUntold();
        } finally {
            lock.unlock();
        }
        tell(told);
        helpOthers();
        return outcome;
    }

    public boolean enqueue(WorkerRank rank, KvEvent event) {
        if (writer == null && lock.tryLock()) {
            List<Applied> told;
            try {
                drain();
                applyHere(rank, event);
                told = takeUntold();
            } finally {
                lock.unlock();
            }
            tell(told);
            helpOthers();
            return true;
        }
        int depth = waiting.incrementAndGet();
        if (depth > capacity) {
            waiting.decrementAndGet();
            return false;
        }
        highWater.accumulateAndGet(depth, Math::max);
        queue.offer(new Queued(rank, event));
        if (writer != null) {
            LockSupport.unpark(writer);
        } else {
            helpOthers();
        }
        return true;
    }

    public void flush() {
        List<Applied> told;
        lock.lock();
        try {
            drain();
            told = takeUntold();
        } finally {
            lock.unlock();
        }
        tell(told);
        helpOthers();
    }

    /** Runs something between two events, after those enqueued before. */
    public <T> T exclusively(Supplier<T> action) {
        List<Applied> told;
        T result;
        lock.lock();
        try {
            drain();
            result = action.get();
            told = takeUntold();
        } finally {
            lock.unlock();
        }
        tell(told);
        helpOthers();
        return result;
    }

    public void exclusively(Runnable action) {
        exclusively(() -> {
            action.run();
            return Boolean.TRUE;
        });
    }

    /** Applies what arrived while this thread had the lock and others went away relying on it. */
    private void helpOthers() {
        if (waiting.get() == 0) {
            return;
        }
        while (!queue.isEmpty() && lock.tryLock()) {
            List<Applied> told;
            try {
                drain();
                told = takeUntold();
            } finally {
                lock.unlock();
            }
            tell(told);
        }
    }

    private void drain() {
        if (waiting.get() == 0) {
            return;
        }
        for (Queued next = queue.poll(); next != null; next = queue.poll()) {
            waiting.decrementAndGet();
            applyHere(next.rank, next.event);
        }
    }

    private EventOutcome applyHere(WorkerRank rank, KvEvent event) {
        EventOutcome outcome = core.apply(rank, event);
        if (observer != null) {
            untold.add(new Applied(rank, event, outcome));
        }
        return outcome;
    }

    private List<Applied> takeUntold() {
        if (untold.isEmpty()) {
            return List.of();
        }
        List<Applied> taken = untold;
        untold = new ArrayList<>();
        return taken;
    }

    private void tell(List<Applied> told) {
        if (observer == null) {
            return;
        }
        for (Applied applied : told) {
            try {
                observer.onEvent(applied.rank, applied.event, applied.outcome);
            } catch (RuntimeException e) {
                LOG.warn("index observer failed on an event of {}", applied.rank, e);
            }
        }
    }

    private void runWriter() {
        while (!closed) {
            flush();
            if (queue.isEmpty() && !closed) {
                LockSupport.park(this);
            }
        }
    }

    public int depth() {
        return waiting.get();
    }

    public int highWater() {
        return highWater.get();
    }

    public void close() {
        closed = true;
        if (writer != null) {
            LockSupport.unpark(writer);
        }
        flush();
    }
}

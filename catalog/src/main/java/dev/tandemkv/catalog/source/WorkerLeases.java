package dev.tandemkv.catalog.source;

import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.WorkerCatalog;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Liveness of workers that report it: a worker that sent a heartbeat once and then none for the lease time is removed from the catalog.
 * A worker that was never heard of is not dead: it has no lease and stays. Without any heartbeat nothing is ever scheduled.
 *
 * <p>For workers that register themselves; one that a reconciler introduced is the reconciler's. Thread-safe; the catalog and the
 * observer are called outside every lock.
 */
public final class WorkerLeases implements AutoCloseable {

    private final WorkerCatalog catalog;
    private final Ticker ticker;
    private final Scheduler scheduler;
    private final GuardedObserver observer;
    private final Duration lease;
    /** Worker id to the tick of its last heartbeat. Ids of the catalog only, so it is bounded by that. */
    private final ConcurrentHashMap<Long, Long> lastHeard = new ConcurrentHashMap<>();
    /** The next sweep; {@code null} while no lease runs. */
    private final AtomicReference<@Nullable Sweep> nextSweep = new AtomicReference<>();

    private volatile boolean closed;

    /**
     * @param lease how long a worker may be silent after its first heartbeat
     * @param observer told of the workers that are removed
     * @throws dev.tandemkv.catalog.BadRequestException unless the lease is above 0
     */
    public WorkerLeases(
            WorkerCatalog catalog, Ticker ticker, Scheduler scheduler, Duration lease, CatalogObserver observer) {
        this.catalog = catalog;
        this.ticker = ticker;
        this.scheduler = scheduler;
        this.lease = Periods.requirePositive("lease", lease);
        this.observer = new GuardedObserver(observer);
    }

    /**
     * Begins or renews a worker's lease.
     *
     * @throws NotFoundException if the catalog does not know the worker (any more): it must register again
     */
    public void heartbeat(long workerId) {
        if (catalog.find(workerId).isEmpty()) {
            lastHeard.remove(workerId);
            throw new NotFoundException("worker", Long.toUnsignedString(workerId));
        }
        lastHeard.put(workerId, ticker.read());
        armIfIdle();
    }

    /** Ends a worker's lease without removing the worker, for one that is deregistered or will report no more. */
    public void forget(long workerId) {
        lastHeard.remove(workerId);
    }

    /** Ends every lease; the workers stay. Idempotent. */
    @Override
    public void close() {
        closed = true;
        lastHeard.clear();
        Sweep sweep = nextSweep.getAndSet(null);
        if (sweep != null) {
            sweep.cancel();
        }
    }

    private void armIfIdle() {
        Sweep sweep = new Sweep();
        if (!closed && nextSweep.compareAndSet(null, sweep)) {
            sweep.arm(lease);
        }
    }

    private void sweep(Sweep running) {
        long now = ticker.read();
        long untilNext = lease.toNanos();
        for (Map.Entry<Long, Long> heard : Map.copyOf(lastHeard).entrySet()) {
            long left = heard.getValue() + lease.toNanos() - now;
            if (left <= 0) {
                // Only if nothing was heard since the copy was made.
                if (lastHeard.remove(heard.getKey(), heard.getValue())) {
                    remove(heard.getKey());
                }
            } else {
                untilNext = Math.min(untilNext, left);
            }
        }
        nextSweep.compareAndSet(running, null);
        if (!lastHeard.isEmpty()) {
            Sweep next = new Sweep();
            if (!closed && nextSweep.compareAndSet(null, next)) {
                next.arm(Duration.ofNanos(untilNext));
            }
        }
    }

    private void remove(long workerId) {
        WorkerRecord removed;
        try {
            removed = catalog.remove(workerId);
        } catch (NotFoundException e) {
            return;
        }
        observer.removed(removed);
    }

    /** One task on the scheduler. */
    private final class Sweep {
        private final AtomicReference<Scheduler.@Nullable Task> task = new AtomicReference<>();
        private volatile boolean cancelled;

        void arm(Duration delay) {
            Scheduler.Task scheduled = scheduler.schedule(delay, () -> sweep(this));
            task.set(scheduled);
            if (cancelled) {
                scheduled.cancel();
            }
        }

        void cancel() {
            cancelled = true;
            Scheduler.Task scheduled = task.get();
            if (scheduled != null) {
                scheduled.cancel();
            }
        }
    }
}

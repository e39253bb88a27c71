package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.coordinator.internal.GuardedObserver;
import dev.tandemkv.coordinator.internal.PoolCall;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Owns the booking of one attempt from the moment it exists: tells the pool what the response shows, and frees the booking once, whichever
 * of finish, abort and close comes first. It frees the booking instance, so a retry's booking under the same id is never hit.
 *
 * <p>Thread-safe: the fields below the lock are guarded by it, pool and observer are called outside.
 */
final class RequestGuard implements AutoCloseable {

    private final SelectionPool pool;
    private final Booking booking;
    private final Phase phase;
    private final Supplier<CompletableFuture<Void>> free;
    private final HostObserver observer;
    private final Ticker ticker;
    private final long routedTick;
    private final long touchEveryNanos;
    private final long blockSize;
    private final long isl;
    private final @Nullable Integer expectedOutputTokens;

    private final Object lock = new Object();
    private long outputTokens;
    private long blocks;
    private boolean prefillMarked;
    private boolean anyItem;
    private long dispatchedTick;
    private long firstTokenTick;
    private long lastTokenTick;
    private long lastTouchTick;
    private boolean dispatched;
    private @Nullable CompletableFuture<Void> freed;

    /** @param free begins to free the booking; completes after the first try, never exceptionally */
    RequestGuard(
            HostParts<?, ?> parts,
            Booking booking,
            Phase phase,
            @Nullable Integer expectedOutputTokens,
            long routedTick,
            Supplier<CompletableFuture<Void>> free) {
        pool = parts.pool();
        observer = parts.observer();
        ticker = parts.ticker();
        touchEveryNanos = Scheduler.saturatedNanos(parts.lease()) / 3;
        this.booking = booking;
        this.phase = phase;
        this.free = free;
        this.routedTick = routedTick;
        Selection selection = booking.selection();
        blockSize = Math.max(1, selection.blockSize());
        isl = selection.islTokens();
        blocks = blocksOf(isl);
        this.expectedOutputTokens = expectedOutputTokens;
        lastTouchTick = ticker.read();
        observer.onStarted(worker());
    }

    private WorkerRank worker() {
        return booking.id().worker();
    }

    private long blocksOf(long tokens) {
        return (tokens + blockSize - 1) / blockSize;
    }

    /** The worker has accepted the request: from now on it counts. */
    void dispatched(long startedTick) {
        synchronized (lock) {
            dispatched = true;
            dispatchedTick = startedTick;
        }
    }

    /** What one response item changes, worked out under the lock and carried out after it. */
    private record Change(
            boolean firstItem,
            boolean firstToken,
            long newBlocks,
            double remainingFraction,
            boolean touch,
            long sinceLastToken,
            long dispatchNanos) {}

    /** A response item arrived, with this many new output tokens. */
    void item(int tokens) {
        Change change;
        long now = ticker.read();
        synchronized (lock) {
            if (freed != null) {
                return;
            }
            change = change(tokens, now);
        }
        if (change.firstItem) {
            observer.onDispatchLatency(worker(), change.dispatchNanos);
        }
        if (change.firstToken) {
            // Once: a mark that fails is not repeated, the release ends the charge anyway.
            PoolCall.start(() -> pool.prefillComplete(booking), (done, failure) -> warn("prefill mark", failure));
            observer.onFirstToken(worker(), now - routedTick);
        } else if (tokens > 0) {
            observer.onTokens(worker(), tokens, change.sinceLastToken / tokens);
        }
        if (change.newBlocks > 0) {
            GuardedObserver.guard(() -> grow(change));
        }
        if (change.touch) {
            touch();
        }
    }

    /** Renews the lease of a booking that the pool owns by id; tokens do so as well, where they come often enough. */
    void renew() {
        synchronized (lock) {
            if (freed != null) {
                return;
            }
            lastTouchTick = ticker.read();
        }
        touch();
    }

    private void touch() {
        PoolCall.start(() -> pool.touch(booking), (done, failure) -> warn("lease renewal", failure));
    }

    private Change change(int tokens, long now) {
        boolean firstItem = !anyItem;
        boolean firstToken = tokens > 0 && !prefillMarked;
        anyItem = true;
        prefillMarked |= firstToken;
        firstTokenTick = firstToken ? now : firstTokenTick;
        outputTokens += tokens;
        long grown = blocksOf(isl + outputTokens) - blocks;
        blocks += grown;
        boolean touch = tokens > 0 && now - lastTouchTick >= touchEveryNanos;
        if (touch) {
            lastTouchTick = now;
        }
        long sinceLast = now - lastTokenTick;
        if (tokens > 0) {
            lastTokenTick = now;
        }
        double remaining = expectedOutputTokens == null
                ? -1
                : Math.max(0, 1 - outputTokens / (double) Math.max(1, Integer.toUnsignedLong(expectedOutputTokens)));
        return new Change(firstItem, firstToken, grown, remaining, touch, sinceLast, now - dispatchedTick);
    }

    private void grow(Change change) {
        int more = (int) Math.min(Integer.MAX_VALUE, change.newBlocks);
        if (change.remainingFraction < 0) {
            booking.addOutputBlocks(more);
        } else {
            booking.addOutputBlocks(more, change.remainingFraction);
        }
    }

    private void warn(String what, @Nullable Throwable failure) {
        if (failure != null) {
            observer.onWarning(what, failure);
        }
    }

    /** The response ended: metrics, then the booking. */
    CompletableFuture<Void> finish() {
        return end();
    }

    /** No worker has taken the request: the booking alone. */
    CompletableFuture<Void> abort() {
        return end();
    }

    /** The request was dropped: metrics if it was dispatched, and the booking in the background. */
    @Override
    public void close() {
        end();
    }

    /** The three ends differ only in what has happened before: what was never dispatched is not counted. */
    private CompletableFuture<Void> end() {
        CompletableFuture<Void> mine = new CompletableFuture<>();
        long tokens;
        boolean counts;
        long transferNanos;
        synchronized (lock) {
            if (freed != null) {
                return freed.copy();
            }
            freed = mine;
            tokens = outputTokens;
            counts = dispatched;
            transferNanos = firstTokenTick - dispatchedTick;
        }
        if (counts) {
            observer.onFinished(worker(), tokens);
            if (tokens > 0 && phase == Phase.DECODE_STAGED) {
                observer.onKvTransfer(worker(), transferNanos);
            }
        }
        free.get().whenComplete((done, failure) -> mine.complete(null));
        return mine.copy();
    }
}

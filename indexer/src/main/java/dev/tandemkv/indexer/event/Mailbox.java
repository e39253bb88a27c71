package dev.tandemkv.indexer.event;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs steps one at a time in the order they were handed over, on the thread of whoever finds it idle. No lock is held while a step runs: a
 * step may hand over further steps, which run after it.
 *
 * <p>{@code pending} counts the steps handed over and not finished. Whoever raises it from 0 owns the mailbox until it is 0 again; that
 * hand-over is also what makes one owner's writes visible to the next.
 */
final class Mailbox {

    private static final Logger LOG = LoggerFactory.getLogger(Mailbox.class);

    private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();
    private final AtomicInteger pending = new AtomicInteger();
    private volatile @Nullable Thread owner;

    void run(Runnable step) {
        steps.add(step);
        if (pending.getAndIncrement() == 0) {
            drain();
        }
    }

    /** Steps handed over and not finished. */
    int depth() {
        return pending.get();
    }

    /** Whether the calling thread is running a step right now. */
    boolean isOwner() {
        return owner == Thread.currentThread();
    }

    private void drain() {
        do {
            Runnable step = steps.poll();
            owner = Thread.currentThread();
            if (step != null) {
                runGuarded(step);
            }
            owner = null;
        } while (pending.decrementAndGet() > 0);
    }

    /** A step that fails, be it with an error, must not keep the ones behind it from running: the lane would be silent for ever. */
    private static void runGuarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            LOG.error("A step of an event feed failed", e);
        }
    }
}

package dev.tandemkv.selection.internal.partition;

import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs what must not run inside a partition step: completions of stages, observers, releases of session leases. With a host's executor it
 * hands them over; else they run on the thread that left the step.
 *
 * <p>On a caller's thread, what a completion causes (it frees a booking, that admits a waiter, whose completion frees another ...) runs
 * after it and not inside it, so that a long queue needs no deep stack.
 *
 * <p>It also keeps what a host refused for the moment: whoever leaves a step next, in whatever partition, tries it again.
 */
public final class Afterwards {

    private static final Logger LOG = LoggerFactory.getLogger(Afterwards.class);

    private final @Nullable Executor executor;
    /** What is still to run on each thread that runs something; a queue is touched by its thread only. */
    private final Map<Thread, Queue<Runnable>> running = new ConcurrentHashMap<>();

    private final Queue<Runnable> refused = new ConcurrentLinkedQueue<>();

    /** @param executor where completions run, or {@code null} for the thread at hand */
    public Afterwards(@Nullable Executor executor) {
        this.executor = executor;
    }

    public void run(Queue<Runnable> completions) {
        Thread here = Thread.currentThread();
        Queue<Runnable> outer = running.putIfAbsent(here, completions);
        if (outer != null) {
            outer.addAll(completions);
        } else {
            runAll(here, completions);
        }
    }

    /** Runs a section that holds a lock of the core; what it causes runs after it, when the lock is free again. */
    public <T extends @Nullable Object> T deferring(Supplier<T> section) {
        Thread here = Thread.currentThread();
        Queue<Runnable> caused = new ArrayDeque<>();
        if (running.putIfAbsent(here, caused) != null) {
            return section.get();
        }
        try {
            return section.get();
        } finally {
            runAll(here, caused);
        }
    }

    private void runAll(Thread here, Queue<Runnable> completions) {
        try {
            for (Runnable next = completions.poll(); next != null; next = completions.poll()) {
                hand(next);
            }
        } finally {
            running.remove(here);
        }
    }

    /** Tries something again once the next step has been left. */
    public void again(Runnable retry) {
        refused.add(retry);
    }

    /** A step has been left. */
    void stepLeft() {
        if (refused.isEmpty()) {
            return;
        }
        Queue<Runnable> due = new ArrayDeque<>();
        for (Runnable next = refused.poll(); next != null; next = refused.poll()) {
            due.add(next);
        }
        run(due);
    }

    /** An executor that takes no more work must not cost a caller its answer. */
    private void hand(Runnable completion) {
        if (executor != null) {
            try {
                executor.execute(() -> runOne(completion));
                return;
            } catch (RejectedExecutionException e) {
                LOG.warn("the executor refuses completions, they run on the thread at hand", e);
            }
        }
        runOne(completion);
    }

    public void run(Runnable completion) {
        Queue<Runnable> one = new ArrayDeque<>();
        one.add(completion);
        run(one);
    }

    private static void runOne(Runnable completion) {
        try {
            completion.run();
        } catch (RuntimeException | Error e) {
            LOG.warn("a completion failed", e);
        }
    }
}

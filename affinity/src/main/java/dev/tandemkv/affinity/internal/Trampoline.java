package dev.tandemkv.affinity.internal;

import java.util.ArrayDeque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Runs continuations one after another instead of one inside another, so that a long chain of hand-offs (a waiter fails at once and
 * passes its session to the next, and so on) needs no deep stack. Thread-safe: each thread flattens its own chain.
 */
public final class Trampoline {

    private final Executor executor;
    /** The chain being run by each thread; a thread touches its own only, and removes it when it ends. */
    private final ConcurrentHashMap<Thread, ArrayDeque<Runnable>> running = new ConcurrentHashMap<>();

    /** @param executor where continuations run; {@code Runnable::run} for the thread that caused them */
    public Trampoline(Executor executor) {
        this.executor = executor;
    }

    public void run(Runnable continuation) {
        ArrayDeque<Runnable> outer = running.get(Thread.currentThread());
        if (outer != null) {
            outer.add(continuation);
            return;
        }
        ArrayDeque<Runnable> chain = new ArrayDeque<>();
        running.put(Thread.currentThread(), chain);
        try {
            for (Runnable next = continuation; next != null; next = chain.poll()) {
                handOver(next);
            }
        } finally {
            running.remove(Thread.currentThread());
        }
    }

    private void handOver(Runnable continuation) {
        try {
            executor.execute(continuation);
        } catch (RejectedExecutionException e) {
            // An executor that is shutting down must not leave a waiter without an answer.
            continuation.run();
        }
    }
}

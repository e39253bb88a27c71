package dev.tandemkv.testkit.pool;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The threads on which pools and workers of a race answer, and a way to know that nothing runs on them any more. */
final class RaceThreads implements Executor, AutoCloseable {

    private static final int THREADS = 4;
    private static final long PATIENCE_SECONDS = 30;

    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private final AtomicLong given = new AtomicLong();

    @Override
    public void execute(Runnable task) {
        given.incrementAndGet();
        threads.execute(task);
    }

    /**
     * Returns when everything that was given has run, also what that gave again. When all threads have met, what was given before they were
     * called has run; if nothing was given meanwhile, nothing is left.
     */
    void awaitQuiet() throws Exception {
        long before;
        do {
            before = given.get();
            CyclicBarrier all = new CyclicBarrier(THREADS);
            List<Future<?>> waiting = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                waiting.add(threads.submit(() -> all.await(PATIENCE_SECONDS, TimeUnit.SECONDS)));
            }
            awaitAll(waiting);
        } while (given.get() != before);
    }

    /** Runs all at once, each on a thread of its own, and returns when they have run. */
    static void race(List<Runnable> racers) throws Exception {
        CyclicBarrier start = new CyclicBarrier(racers.size());
        List<Future<?>> running = new ArrayList<>();
        ExecutorService own = Executors.newFixedThreadPool(racers.size());
        try {
            for (Runnable racer : racers) {
                running.add(own.submit(() -> {
                    start.await();
                    racer.run();
                    return null;
                }));
            }
            awaitAll(running);
        } finally {
            own.shutdown();
        }
    }

    private static void awaitAll(List<Future<?>> running) throws Exception {
        for (Future<?> future : running) {
            future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}

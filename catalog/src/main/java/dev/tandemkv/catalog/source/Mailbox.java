package dev.tandemkv.catalog.source;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs steps one at a time, in the order they were posted, on the thread of whoever posts while nobody runs. A step that posts is not
 * re-entered: its message waits for the step's end. No lock is held while a step runs.
 */
final class Mailbox {

    private static final Logger LOG = LoggerFactory.getLogger(CatalogReconciler.class);

    private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();
    private final AtomicInteger posted = new AtomicInteger();

    void post(Runnable step) {
        steps.add(step);
        if (posted.getAndIncrement() != 0) {
            return;
        }
        do {
            Runnable next = steps.poll();
            if (next == null) {
                throw new AssertionError("as many steps as posts");
            }
            try {
                next.run();
            } catch (RuntimeException | Error e) {
                LOG.error("A step of the reconciliation failed", e);
            }
        } while (posted.decrementAndGet() != 0);
    }
}

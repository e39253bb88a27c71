package dev.tandemkv.selection.internal.replica;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.host.ReplicaObserver;
import dev.tandemkv.selection.internal.partition.Partition;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.atomic.MpscUnboundedAtomicArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What peers said of one partition's bookings and is not applied yet: bounded, and applied in batches, each in one partition step with one
 * publication of loads and one look at who waits. A batch is due when {@link #BATCH} messages wait, else a millisecond after the first.
 *
 * <p>Threads: anybody offers; only the step polls. {@code depth} counts what was offered and not polled, so it bounds the queue although
 * that does not. No message is left behind: whoever offers arms the timer or posts a batch afterwards, and a batch that leaves something
 * does so again.
 */
final class Inbox {

    private static final Logger LOG = LoggerFactory.getLogger(Inbox.class);

    static final int CAPACITY = 100_000;
    static final int BATCH = 256;
    static final Duration LINGER = Duration.ofMillis(1);

    private final Partition in;
    private final Mirrors mirrors;
    private final ReplicaCounters counters;
    private final ReplicaObserver observer;
    private final Scheduler scheduler;
    private final Queue<BookingEvent> waiting = new MpscUnboundedAtomicArrayQueue<>(BATCH);
    private final AtomicInteger depth = new AtomicInteger();
    private final AtomicBoolean armed = new AtomicBoolean();
    private final AtomicBoolean posted = new AtomicBoolean();

    Inbox(Partition in, Mirrors mirrors, ReplicaCounters counters, ReplicaObserver observer) {
        this.in = in;
        this.mirrors = mirrors;
        this.counters = counters;
        this.observer = observer;
        scheduler = in.core().scheduler();
    }

    void offer(BookingEvent event) {
        int waits = depth.incrementAndGet();
        if (waits > CAPACITY) {
            depth.decrementAndGet();
            counters.inboundDropped.increment();
            return;
        }
        waiting.offer(event);
        if (waits >= BATCH) {
            post();
        } else {
            arm();
        }
    }

    private void arm() {
        if (armed.compareAndSet(false, true)) {
            try {
                scheduler.schedule(LINGER, this::due);
            } catch (RuntimeException e) {
                LOG.debug("the scheduler refuses to wait for a batch", e);
                due();
            }
        }
    }

    private void due() {
        armed.set(false);
        post();
    }

    private void post() {
        if (posted.compareAndSet(false, true)) {
            in.mailbox().submit(this::applyBatch);
        }
    }

    /** Inside the step. */
    private void applyBatch() {
        posted.set(false);
        int taken = 0;
        boolean released = false;
        for (BookingEvent event = waiting.poll(); event != null; event = taken < BATCH ? waiting.poll() : null) {
            taken++;
            released |= apply(event);
        }
        if (released) {
            in.released();
        }
        int left = depth.addAndGet(-taken);
        int applied = taken;
        in.mailbox().afterwards(() -> after(left, applied));
    }

    private boolean apply(BookingEvent event) {
        try {
            return mirrors.apply(in, event);
        } catch (RuntimeException e) {
            // One message must not cost the others of its batch.
            LOG.warn("a peer's message about {} could not be applied", in.key(), e);
            counters.malformed.increment();
            return false;
        }
    }

    private void after(int left, int applied) {
        if (left >= BATCH) {
            post();
        } else if (left > 0) {
            arm();
        }
        if (applied > 0) {
            observer.onBatch(in.key(), left, applied);
        }
    }
}

package dev.tandemkv.selection.internal.partition;

import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jctools.queues.atomic.MpscUnboundedAtomicArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serialises what may change or read one partition's state: a combining mailbox. Whoever arrives first goes in and, before leaving, also
 * runs what others left meanwhile; there is no thread of its own and, where nobody else is inside, no hand-off.
 *
 * <p>Two ways in: {@link #submit} never blocks (a busy mailbox takes the work over), {@link #call} waits for its turn and answers. What
 * runs inside must be short and must not call back into either; what it leaves to {@link #afterwards} runs once the mailbox has been
 * left, so that no completion, observer or other foreign code runs inside.
 *
 * <p>Threads: {@code lock} guards {@code leaving}. {@code waiting} is offered to by anyone and polled by the holder of {@code lock}
 * only. No wake-up is lost: whoever offers tries the lock afterwards, whoever unlocks looks at the queue afterwards.
 */
public final class Mailbox {

    private static final Logger LOG = LoggerFactory.getLogger(Mailbox.class);
    private static final int CHUNK = 64;

    private final ReentrantLock lock = new ReentrantLock();
    private final MpscUnboundedAtomicArrayQueue<Runnable> waiting = new MpscUnboundedAtomicArrayQueue<>(CHUNK);
    private final Afterwards afterwards;
    private ArrayDeque<Runnable> leaving = new ArrayDeque<>();

    public Mailbox(Afterwards afterwards) {
        this.afterwards = afterwards;
    }

    /** Runs the work here if nobody is inside, else leaves it to whoever is. Never blocks. */
    public void submit(Runnable work) {
        if (tryEnter()) {
            try {
                work.run();
            } finally {
                leave();
            }
        } else {
            waiting.offer(work);
            helpOut();
        }
    }

    /**
     * Runs the work here once it is this caller's turn.
     *
     * @throws IllegalStateException if called from inside
     */
    public <T> T call(Supplier<T> work) {
        enter();
        try {
            return work.get();
        } finally {
            leave();
        }
    }

    /** {@link #call} without an answer. */
    public void run(Runnable work) {
        enter();
        try {
            work.run();
        } finally {
            leave();
        }
    }

    /** Keeps what must not run inside until the mailbox has been left. Called from inside. */
    public void afterwards(Runnable completion) {
        leaving.add(completion);
    }

    /** {@link #afterwards} for a caller that may be inside or not; runs at once where it is not. */
    void afterwardsFromAnywhere(Runnable completion) {
        if (lock.isHeldByCurrentThread()) {
            leaving.add(completion);
        } else {
            afterwards.run(completion);
        }
    }

    /**
     * Goes in without waiting, for work that is not worth an object. Whoever got in must {@link #leave}.
     *
     * @return false if somebody is inside, this thread included
     */
    public boolean tryEnter() {
        if (lock.isHeldByCurrentThread() || !lock.tryLock()) {
            return false;
        }
        // What was left before comes first: the calls of one thread take effect in their order.
        drain();
        return true;
    }

    private void enter() {
        if (lock.isHeldByCurrentThread()) {
            throw new IllegalStateException(
                    "the core was called from inside a partition step, by a policy or a provider");
        }
        lock.lock();
        drain();
    }

    /** Ends what {@link #tryEnter} began. */
    public void leave() {
        drain();
        unlockAndRunWhatWasLeft();
        helpOut();
        afterwards.stepLeft();
    }

    private void helpOut() {
        while (!waiting.isEmpty() && tryEnter()) {
            unlockAndRunWhatWasLeft();
        }
    }

    private void unlockAndRunWhatWasLeft() {
        ArrayDeque<Runnable> toRun = leaving;
        if (toRun.isEmpty()) {
            lock.unlock();
            return;
        }
        leaving = new ArrayDeque<>();
        lock.unlock();
        afterwards.run(toRun);
    }

    private void drain() {
        for (Runnable next = waiting.poll(); next != null; next = waiting.poll()) {
            try {
                next.run();
            } catch (RuntimeException | Error e) {
                // The work of one caller must not take the mailbox from all others.
                LOG.error("work of another caller failed inside the partition step", e);
            }
        }
    }
}

package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.DeadlineExceededException;
import dev.tandemkv.selection.NotReadyException;
import dev.tandemkv.selection.OverloadedException;
import dev.tandemkv.selection.QueueRejectedException;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectRequest.Queueing;
import dev.tandemkv.selection.config.QueueClass;
import dev.tandemkv.selection.config.QueueConfig;
import dev.tandemkv.selection.config.QueueConfig.NoWorkers;
import dev.tandemkv.selection.config.QueueProfile;
import dev.tandemkv.selection.internal.queue.AdmissionQueue;
import dev.tandemkv.selection.internal.queue.QueueGate;
import dev.tandemkv.selection.internal.queue.Waiter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Who has to wait, and what happens to those who do. A newcomer waits if its class has a backlog or the ranks it may use are busy; every
 * cause that may change this ends in {@link #drain}.
 *
 * <p>A waiting request whose candidates are all overloaded goes on waiting: overload is a reason to wait like load, not to fail. One that
 * nobody may serve any more, for another reason, fails as it would have on arrival.
 *
 * <p>Confined to the partition step; what it decides is told outside.
 */
final class WaitingRoom {

    private final Partition partition;
    private final Decider decider;
    private final CoreContext core;
    private final QueueConfig config;
    private final AdmissionQueue<Attempt> queue;
    private final Alarm clockwork;

    WaitingRoom(Partition partition, Decider decider, QueueProfile profile, Alarm clockwork) {
        this.partition = partition;
        this.decider = decider;
        this.clockwork = clockwork;
        core = partition.core();
        config = core.config().queue();
        queue = new AdmissionQueue<>(
                profile, config.maxOvertakes(), core.ticker().read());
    }

    AdmissionQueue<Attempt> queue() {
        return queue;
    }

    // ---- entering

    /**
     * Decides the attempt, or lets it wait.
     *
     * @return whether it is decided
     */
    boolean admit(Attempt attempt, long now) {
        Decider.Standing standing = decider.look(attempt);
        if (standing == Decider.Standing.FAILED) {
            return true;
        }
        long cached = standing == Decider.Standing.TARGET_OVERLOADED ? 0 : decider.bestCachedTokens(attempt);
        QueueClass queueClass =
                queue.classOf(attempt.request(), attempt.prompt().islTokens() - cached);
        boolean waits = standing == Decider.Standing.TARGET_OVERLOADED
                || (queueClass.queues() && (queue.hasBacklog(queueClass) || isBusy(queueClass, now)));
        if (!waits) {
            decider.decide(attempt, now);
            return true;
        }
        try {
            enqueue(attempt, queueClass, cached, now);
        } catch (QueueRejectedException e) {
            attempt.fail(e);
            return true;
        }
        drain(now, attempt);
        return attempt.waiter() == null;
    }

    private void enqueue(Attempt attempt, QueueClass queueClass, long cached, long now) {
        SelectRequest request = attempt.request();
        if (request.queueing() == Queueing.REFUSED || !attempt.mayWait()) {
            throw queue.refusal(queueClass);
        }
        queue.requireRoom(queueClass, partition.schedulableWorkers().size());
        attempt.waiter(queue.add(queueClass, request, cached, attempt, now));
        core.counters().queued.increment();
        Long deadline = request.deadlineTick();
        long look = now + config.recheckInterval().toNanos();
        long due = deadline == null ? look : Math.min(look, deadline);
        partition.mailbox().afterwards(() -> {
            clockwork.at(due);
            core.observer().onQueued(partition.key());
        });
    }

    /** Whether the ranks that the last look found are busy, by the class's thresholds. */
    private boolean isBusy(QueueClass queueClass, long now) {
        Eligibility eligible = decider.eligibility();
        int needed = QueueGate.neededBusy(queueClass, eligible.count());
        int busy = 0;
        for (int i = 0; i < eligible.count() && busy < needed; i++) {
            int row = eligible.rows()[i];
            decider.loads().read(row, now);
            long capacity = partition.roster().batchTokens(row);
            if (QueueGate.busy(queueClass, decider.loads().prefillTokens(), capacity)) {
                busy++;
            }
        }
        return eligible.count() > 0 && busy >= needed;
    }

    // ---- leaving

    /** Serves whoever can be served now. */
    void drain(long now) {
        drain(now, null);
    }

    private void drain(long now, @Nullable Attempt newcomer) {
        if (queue.isEmpty()) {
            return;
        }
        if (!partition.isReady()) {
            if (config.noWorkers() == NoWorkers.FAIL) {
                queue.clear().forEach(waiter -> {
                    waiter.payload().fail(new NotReadyException(partition.key()));
                    leave(waiter.payload(), newcomer);
                });
            }
            return;
        }
        for (Waiter<Attempt> next = poll(now); next != null; next = poll(now)) {
            serve(next, now, newcomer);
        }
    }

    private @Nullable Waiter<Attempt> poll(long now) {
        return queue.poll(waiter -> isDispatchable(waiter, now));
    }

    private boolean isDispatchable(Waiter<Attempt> waiter, long now) {
        Attempt attempt = waiter.payload();
        if (isLate(attempt, now)) {
            return true;
        }
        return switch (decider.look(attempt)) {
            case FAILED -> {
                boolean overloaded = attempt.failure() instanceof OverloadedException;
                if (overloaded) {
                    attempt.unfail();
                }
                yield !overloaded;
            }
            case TARGET_OVERLOADED -> false;
            case READY -> !isBusy(waiter.queueClass(), now);
        };
    }

    private void serve(Waiter<Attempt> waiter, long now, @Nullable Attempt newcomer) {
        Attempt attempt = waiter.payload();
        attempt.waited(now - waiter.arrivedAt());
        attempt.unfail();
        if (isLate(attempt, now)) {
            failLate(attempt);
        } else if (needsRefresh(attempt)) {
            CacheView.Refresh refresh = partition.cache().refresh(attempt);
            if (refresh != null) {
                attempt.waiter(null);
                attempt.refreshing(true);
                refresh.answer()
                        .whenComplete((answer, failure) ->
                                partition.mailbox().submit(() -> conclude(attempt, refresh.settle())));
                concludeAtDeadline(attempt, now);
                return;
            }
            decider.decide(attempt, now);
        } else {
            decider.decide(attempt, now);
        }
        leave(attempt, newcomer);
    }

    private boolean needsRefresh(Attempt attempt) {
        long after = config.refreshAfter().toNanos();
        return after > 0 && attempt.waitedNanos() > after && attempt.prompt().blockHashes().length > 0;
    }

    /** The refreshed lookup of a request that has left the queue is there. */
    private void conclude(Attempt attempt, Runnable settle) {
        if (!attempt.isRefreshing()) {
            return;
        }
        attempt.refreshing(false);
        settle.run();
        long now = core.ticker().read();
        if (attempt.isWithdrawn()) {
            attempt.fail(new CancelledException("selection in " + partition.key()));
        } else if (isLate(attempt, now)) {
            failLate(attempt);
        } else {
            decider.decide(attempt, now);
        }
        partition.mailbox().afterwards(attempt.whenDecided());
    }

    /** A lookup that does not answer keeps nobody past a deadline. */
    private void concludeAtDeadline(Attempt attempt, long now) {
        Long deadline = attempt.request().deadlineTick();
        if (deadline != null) {
            Duration left = Duration.ofNanos(deadline - now);
            partition.mailbox().afterwards(() -> concludeIn(left, attempt));
        }
    }

    private void concludeIn(Duration left, Attempt attempt) {
        try {
            core.scheduler().schedule(left, () -> partition.mailbox().submit(() -> conclude(attempt, () -> {})));
        } catch (RuntimeException refused) {
            // A wait that nothing bounds ends now.
            partition.mailbox().submit(() -> conclude(attempt, () -> attempt.fail(Decider.typed(refused))));
        }
    }

    private void leave(Attempt attempt, @Nullable Attempt newcomer) {
        attempt.waiter(null);
        if (attempt != newcomer) {
            partition.mailbox().afterwards(attempt.whenDecided());
        }
    }

    private static boolean isLate(Attempt attempt, long now) {
        Long deadline = attempt.request().deadlineTick();
        return deadline != null && now - deadline >= 0;
    }

    private void failLate(Attempt attempt) {
        attempt.fail(new DeadlineExceededException(
                "selection in " + partition.key(), Duration.ofNanos(attempt.waitedNanos())));
    }

    /** Takes an attempt out whose caller has gone; false if it does not wait here. */
    boolean withdraw(Attempt attempt) {
        Waiter<Attempt> waiter = attempt.waiter();
        if (waiter == null || !queue.cancel(waiter)) {
            return false;
        }
        attempt.waiter(null);
        drain(core.ticker().read());
        return true;
    }

    // ---- time

    /** Something is due: a deadline, or the next look at everybody. */
    void ring() {
        long now = core.ticker().read();
        for (Waiter<Attempt> waiter : queue.waiters()) {
            Attempt attempt = waiter.payload();
            if (isLate(attempt, now) && queue.cancel(waiter)) {
                attempt.waited(now - waiter.arrivedAt());
                failLate(attempt);
                leave(attempt, null);
            }
        }
        drain(now);
        schedule(now);
    }

    private void schedule(long now) {
        if (queue.isEmpty()) {
            return;
        }
        long next = now + config.recheckInterval().toNanos();
        for (Waiter<Attempt> waiter : queue.waiters()) {
            Long deadline = waiter.payload().request().deadlineTick();
            if (deadline != null && deadline - next < 0) {
                next = deadline;
            }
        }
        long due = next;
        partition.mailbox().afterwards(() -> clockwork.at(due));
    }
}

package dev.tandemkv.coordinator.internal;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.OpenPlan;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.coordinator.PlanEvent;
import dev.tandemkv.coordinator.PlanLimitException;
import dev.tandemkv.coordinator.ReleaseOutcome;
import dev.tandemkv.coordinator.RoutingPlan;
import dev.tandemkv.selection.Booking;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The plans that are not over, and the releases that outlived theirs. While there is an open plan a sweep runs every third of the lease:
 * it renews what is booked, and finds plans whose handle was lost.
 *
 * <p>Thread-safe. The registry holds the plan, never its handle, so that a lost handle can be noticed.
 */
final class Registry {

    private final Settings settings;
    private final Map<String, PlanRun> open = new ConcurrentHashMap<>();
    /** Counted before a plan is added and after it is removed, so that the limit cannot be overrun. */
    private final AtomicInteger openCount = new AtomicInteger();

    private final Set<FreeTask> strays = ConcurrentHashMap.newKeySet();
    /** The handles whose loss would be noticed: those of open plans, so that a plan that is over is not kept. */
    private final Map<PlanRun, Lost> handles = new ConcurrentHashMap<>();

    private final ReferenceQueue<RoutingPlan> lostHandles = new ReferenceQueue<>();

    private volatile boolean closed;

    private final Object sweepLock = new Object();
    /** Guarded by the sweep lock. */
    private Scheduler.@Nullable Task sweep;

    Registry(Settings settings) {
        this.settings = settings;
    }

    /** Notices that a handle is gone although its plan is not over. */
    private static final class Lost extends PhantomReference<RoutingPlan> {
        private final PlanRun run;

        Lost(RoutingPlan handle, PlanRun run, ReferenceQueue<RoutingPlan> queue) {
            super(handle, queue);
            this.run = run;
        }
    }

    /** @throws dev.tandemkv.catalog.SelectionException if it is refused: closed, too many, or an id that is open */
    PlanRun open(DisaggRequest request) {
        if (closed) {
            throw shutdown();
        }
        if (openCount.incrementAndGet() > settings.maxOpenPlans()) {
            openCount.decrementAndGet();
            throw new PlanLimitException(settings.maxOpenPlans());
        }
        PlanRun run = new PlanRun(request, settings, this);
        if (open.putIfAbsent(request.id(), run) != null) {
            openCount.decrementAndGet();
            throw new ConflictException("plan", request.id(), "is still open");
        }
        if (closed) {
            run.end(Ending.SHUTDOWN, null);
            throw shutdown();
        }
        keepSweeping();
        return run;
    }

    /** Refuses further plans and ends the open ones. Who opens and who closes each look at the other's mark after setting their own. */
    void close() {
        closed = true;
        open.values().forEach(run -> run.end(Ending.SHUTDOWN, null));
    }

    private static ShutdownException shutdown() {
        return new ShutdownException("coordinator");
    }

    RoutingPlan handOut(PlanRun run) {
        PlanHandle handle = new PlanHandle(run);
        if (!run.state().isTerminal()) {
            handles.put(run, new Lost(handle, run, lostHandles));
            if (run.state().isTerminal()) {
                handles.remove(run);
            }
        }
        return handle;
    }

    void over(PlanRun run) {
        if (open.remove(run.id(), run)) {
            openCount.decrementAndGet();
        }
        handles.remove(run);
    }

    /** Number of handles that are watched. */
    int watchedHandles() {
        return handles.size();
    }

    @Nullable
    PlanRun find(String planId) {
        return open.get(planId);
    }

    List<OpenPlan> openPlans() {
        long now = settings.ticker().read();
        return open.values().stream()
                .map(run -> new OpenPlan(run.id(), run.state(), now - run.createdTick(), run.pendingFrees()))
                .toList();
    }

    List<PendingFree> pendingFrees() {
        List<PendingFree> all = new ArrayList<>();
        open.values().forEach(run -> all.addAll(run.pendingFrees()));
        strays.forEach(stray -> all.add(stray.snapshot()));
        return all;
    }

    /** A booking arrived after its plan had settled it. */
    void freeStray(String planId, Leg leg, Booking booking) {
        FreeTask task = FreeTask.ofBooking(
                settings.freePort(leg), planId, booking.id().selectionId(), booking, new FreeTask.Listener() {
                    @Override
                    public void onAnswer(PlanEvent event) {
                        settings.observer().onCall(planId, event, event.endedTick() - event.startedTick());
                    }

                    @Override
                    public void onSettled(FreeTask settled) {
                        strays.remove(settled);
                    }

                    @Override
                    public void onFailedTry(FreeTask failed) {}
                });
        strays.add(task);
        task.attempt();
    }

    /** Tries the bookings again that arrived after their plan was over and are not freed yet. */
    CompletableFuture<ReleaseOutcome> retryStrays(String planId) {
        return FreeTask.attemptAll(
                strays.stream().filter(stray -> stray.isOf(planId)).toList());
    }

    private Duration third() {
        return settings.lease().dividedBy(3);
    }

    private void keepSweeping() {
        synchronized (sweepLock) {
            if (sweep == null) {
                // Refused, it is tried again with the next plan.
                sweep = Timers.start(settings.scheduler(), third(), this::sweep);
            }
        }
    }

    private void sweep() {
        reportLost();
        open.values().forEach(this::renew);
        synchronized (sweepLock) {
            sweep = null;
        }
        if (!open.isEmpty()) {
            keepSweeping();
        }
    }

    private void renew(PlanRun run) {
        for (Holdings.Leased leased : run.leased()) {
            PoolCall.start(() -> settings.pool(leased.leg()).touch(leased.booking()), (done, failure) -> {});
        }
    }

    private void reportLost() {
        for (Object next = lostHandles.poll(); next != null; next = lostHandles.poll()) {
            if (next instanceof Lost lost && handles.remove(lost.run, lost)) {
                handleLost(lost.run);
            }
        }
    }

    /** Nobody can close the plan any more: what it holds is leased from now on, and released when the lease has passed. */
    void handleLost(PlanRun run) {
        if (run.state().isTerminal()) {
            return;
        }
        run.stopRenewing();
        settings.observer().onPlanForgotten(run.id(), settings.ticker().read() - run.createdTick());
        Runnable release = () -> run.end(Ending.RELEASE, null);
        if (Timers.start(settings.scheduler(), settings.lease(), release) == null) {
            release.run();
        }
    }
}

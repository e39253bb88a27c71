package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.coordinator.CoordinatorObserver;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.coordinator.PlanEvent;
import dev.tandemkv.coordinator.internal.Failures;
import dev.tandemkv.coordinator.internal.FreePort;
import dev.tandemkv.coordinator.internal.FreeTask;
import dev.tandemkv.coordinator.internal.PoolCall;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.SelectRequest;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Books and frees for a host: whatever a reserve turns into, its booking is either handed over or freed, and every free is brought to its
 * end. Thread-safe.
 */
final class Releases implements FreeTask.Listener {

    private final HostParts<?, ?> parts;
    private final Set<FreeTask> pending = ConcurrentHashMap.newKeySet();

    Releases(HostParts<?, ?> parts) {
        this.parts = parts;
    }

    /** Books, unless the signal fires first; a booking that is there when it fires wins. */
    CompletableFuture<Booking> reserve(SelectRequest request, Phase phase, CancellationSignal stop) {
        String id = Objects.requireNonNull(request.selectionId());
        if (stop.isCancelled()) {
            return CompletableFuture.failedFuture(new CancelledException("request " + id));
        }
        Reserve reserve = new Reserve(id, phase);
        CancellationSignal.Registration registration = stop.onCancel(reserve::withdraw);
        PoolCall.start(() -> parts.pool().selectAndReserve(request), reserve::answered);
        reserve.result.whenComplete((booking, failure) -> registration.close());
        return reserve.result;
    }

    /** One reserve on its way. The lock decides whether its answer or its withdrawal came first. */
    private final class Reserve {
        private final String id;
        private final Phase phase;
        private final CompletableFuture<Booking> result = new CompletableFuture<>();
        private final Object lock = new Object();
        private boolean ended;
        private @Nullable FreeTask withdrawn;

        Reserve(String id, Phase phase) {
            this.id = id;
            this.phase = phase;
        }

        void withdraw() {
            FreeTask task;
            synchronized (lock) {
                if (ended || withdrawn != null) {
                    return;
                }
                task = FreeTask.ofReserveOnItsWay(port(phase), id, id, Releases.this);
                withdrawn = task;
            }
            start(task);
            result.completeExceptionally(new CancelledException("request " + id));
        }

        void answered(@Nullable Booking answer, @Nullable Throwable reported) {
            Throwable failure = reported == null ? Failures.faultOf(id, answer) : reported;
            Booking booking = failure == null ? answer : null;
            FreeTask task;
            synchronized (lock) {
                ended = true;
                task = withdrawn;
            }
            if (task != null) {
                lateAnswer(task, booking, failure);
            } else if (booking != null) {
                result.complete(booking);
            } else {
                failed(Objects.requireNonNull(failure));
            }
        }

        private void lateAnswer(FreeTask task, @Nullable Booking booking, @Nullable Throwable failure) {
            if (failure != null && Failures.bookedNothing(failure)) {
                task.nothingWasBooked();
            } else if (!task.reserveEnded(booking) && booking != null) {
                // The free by id had come to its end, at the latest with the lease, before the booking came.
                free(booking, phase);
            }
        }

        private void failed(Throwable failure) {
            if (!Failures.bookedNothing(failure)) {
                start(FreeTask.ofFailedReserve(port(phase), id, id, Releases.this));
            }
            result.completeExceptionally(failure);
        }
    }

    /** Frees a booking; completes after the first try, never exceptionally. */
    CompletableFuture<Void> free(Booking booking, Phase phase) {
        String id = booking.id().selectionId();
        return start(FreeTask.ofBooking(port(phase), id, id, booking, this));
    }

    private CompletableFuture<Void> start(FreeTask task) {
        pending.add(task);
        return task.attempt().thenApply(outcome -> null);
    }

    private FreePort port(Phase phase) {
        Leg leg = phase == Phase.PREFILL ? Leg.PREFILL : Leg.DECODE;
        CoordinatorObserver leaks = new CoordinatorObserver() {
            @Override
            public void onLeak(PendingFree free) {
                parts.observer().onLeak(free);
            }
        };
        return new FreePort(
                parts.pool(), leg, parts.freeRetry(), parts.lease(), leaks, parts.ticker(), parts.scheduler());
    }

    /** One more try of each; completes normally. */
    CompletableFuture<Void> retry() {
        return FreeTask.attemptAll(pending).thenApply(outcome -> null);
    }

    int count() {
        return pending.size();
    }

    List<PendingFree> pending() {
        return pending.stream().map(FreeTask::snapshot).toList();
    }

    @Override
    public void onAnswer(PlanEvent event) {}

    @Override
    public void onSettled(FreeTask task) {
        pending.remove(task);
    }

    @Override
    public void onFailedTry(FreeTask task) {}
}

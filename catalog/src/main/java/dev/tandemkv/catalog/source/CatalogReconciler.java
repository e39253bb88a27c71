package dev.tandemkv.catalog.source;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.WorkerCatalog;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a catalog equal to what a source says, beside whatever others registered: only workers that this reconciler introduced are ever
 * removed by it. Failed and unschedulable workers are tried again; a snapshot that contradicts itself changes nothing.
 *
 * <p>Thread-safe. Starts no thread: it runs on the threads that complete the source's stages and on the scheduler's, one step at a time.
 */
public final class CatalogReconciler implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(CatalogReconciler.class);

    private static final Duration FIRST_BACKOFF = Duration.ofSeconds(1);
    private static final Duration LONGEST_BACKOFF = Duration.ofMinutes(1);

    private final WorkerCatalogSource source;
    private final Scheduler scheduler;
    private final GuardedObserver observer;
    private final ClosePolicy closePolicy;
    private final CollapseGuard guard;
    private final Duration retryDelay;
    private final Convergence convergence;
    private final CancellationSignal.Source cancel = CancellationSignal.source();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final AtomicBoolean started = new AtomicBoolean();

    // Everything below is touched only by steps of the mailbox.
    private final Mailbox mailbox = new Mailbox();
    private final Timer retry;
    private final Timer debounce;
    private final Timer clear;
    private final Timer backoff;
    private @Nullable Map<Long, WorkerSpec> desired;
    private @Nullable Map<Long, WorkerSpec> heldBack;
    private Duration nextBackoff = FIRST_BACKOFF;

    private CatalogReconciler(Builder builder) {
        source = builder.source;
        scheduler = builder.scheduler;
        observer = new GuardedObserver(builder.observer);
        closePolicy = builder.closePolicy;
        guard = builder.guard;
        retryDelay = builder.retryDelay;
        convergence = new Convergence(builder.catalog, observer, cancel);
        retry = new Timer(this::retryPass);
        debounce = new Timer(this::applyHeldBack);
        clear = new Timer(this::clear);
        backoff = new Timer(this::ask);
    }

    /** @param catalog what to keep up to date; neither it nor the source is closed by the reconciler */
    public static Builder builder(WorkerCatalog catalog, WorkerCatalogSource source, Scheduler scheduler) {
        return new Builder(catalog, source, scheduler);
    }

    /**
     * Begins; the first snapshot is applied before this returns if the source knows it at once.
     *
     * @return completes when the source was closed and its close policy carried out, or this reconciler was closed; fails with {@link
     *     ShutdownException} where the catalog was closed
     * @throws IllegalStateException if it was started before
     */
    public CompletionStage<Void> start() {
        if (!started.compareAndSet(false, true)) {
            throw new IllegalStateException("started before");
        }
        mailbox.post(this::ask);
        return ended.minimalCompletionStage();
    }

    /** Ends the reconciliation and leaves the catalog as it is. A pass that runs begins no further item. Idempotent. */
    @Override
    public void close() {
        cancel.cancel();
        mailbox.post(this::stop);
    }

    // ---- asking the source ----

    private void ask() {
        if (cancel.isCancelled()) {
            return;
        }
        CompletionStage<Optional<CatalogSnapshot>> next;
        try {
            next = Objects.requireNonNull(source.nextSnapshot(), "the source's answer");
        } catch (RuntimeException | Error e) {
            sourceFailed(e);
            return;
        }
        next.thenApply(snapshot -> Objects.requireNonNull(snapshot, "the membership of the source"))
                .whenComplete((snapshot, failure) -> mailbox.post(
                        failure == null ? () -> answered(snapshot) : () -> sourceFailed(unwrapped(failure))));
    }

    private static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    private void answered(Optional<CatalogSnapshot> snapshot) {
        if (cancel.isCancelled()) {
            return;
        }
        nextBackoff = FIRST_BACKOFF;
        if (snapshot.isPresent()) {
            received(snapshot.get());
            ask();
        } else {
            sourceClosed();
        }
    }

    private void sourceFailed(Throwable failure) {
        if (cancel.isCancelled()) {
            return;
        }
        Duration wait = nextBackoff;
        Duration doubled = wait.multipliedBy(2);
        nextBackoff = doubled.compareTo(LONGEST_BACKOFF) < 0 ? doubled : LONGEST_BACKOFF;
        observer.sourceFailed(failure, wait);
        backoff.arm(wait);
    }

    private void sourceClosed() {
        debounce.cancel();
        heldBack = null;
        Duration keepFor = closePolicy.keepFor();
        if (keepFor == null) {
            ended.complete(null);
        } else if (keepFor.isZero()) {
            clear();
        } else {
            clear.arm(keepFor);
        }
    }

    private void clear() {
        apply(Map.of());
        ended.complete(null);
    }

    // ---- applying ----

    private void received(CatalogSnapshot snapshot) {
        Map<Long, WorkerSpec> byId;
        try {
            byId = snapshot.byId();
        } catch (BadRequestException e) {
            observer.rejected(e);
            return;
        }
        if (desired != null && guard.doubts(desired.size(), kept(desired.keySet(), byId.keySet()))) {
            observer.heldBack(desired.size(), kept(desired.keySet(), byId.keySet()));
            heldBack = byId;
            if (!debounce.isArmed()) {
                debounce.arm(guard.debounce());
            }
            return;
        }
        debounce.cancel();
        heldBack = null;
        apply(byId);
    }

    private static int kept(Set<Long> present, Set<Long> next) {
        Set<Long> kept = new HashSet<>(present);
        kept.retainAll(next);
        return kept.size();
    }

    private void applyHeldBack() {
        Map<Long, WorkerSpec> byId = heldBack;
        heldBack = null;
        if (byId != null) {
            apply(byId);
        }
    }

    /** A newer snapshot takes the place of whatever was to be tried again. */
    private void apply(Map<Long, WorkerSpec> byId) {
        desired = byId;
        retry.cancel();
        pass(convergence.work(byId));
    }

    private void retryPass() {
        if (desired != null) {
            Convergence.Work work = convergence.retryWork(desired);
            observer.retrying(work.size());
            pass(work);
        }
    }

    private void pass(Convergence.Work work) {
        try {
            convergence.pass(work);
        } catch (ShutdownException e) {
            LOG.info("The catalog is closed; reconciliation ends");
            ended.completeExceptionally(e);
            stop();
            return;
        }
        if (!cancel.isCancelled() && convergence.needsRetry()) {
            retry.arm(retryDelay);
        }
    }

    private void stop() {
        cancel.cancel();
        retry.cancel();
        debounce.cancel();
        clear.cancel();
        backoff.cancel();
        ended.complete(null);
    }

    /** One slot for one kind of later work; arming it again supersedes what was armed. Touched only by steps of the mailbox. */
    private final class Timer {
        private final Runnable work;
        private Scheduler.@Nullable Task task;
        private long armings;

        Timer(Runnable work) {
            this.work = work;
        }

        void arm(Duration delay) {
            cancel();
            long arming = ++armings;
            task = scheduler.schedule(delay, () -> mailbox.post(() -> fire(arming)));
        }

        private void fire(long arming) {
            // A task that had started when it was cancelled or superseded arrives here all the same.
            if (task != null && arming == armings && !cancel.isCancelled()) {
                task = null;
                work.run();
            }
        }

        boolean isArmed() {
            return task != null;
        }

        void cancel() {
            if (task != null) {
                task.cancel();
                task = null;
            }
        }
    }

    /** Collects what a reconciler needs; not thread-safe. */
    public static final class Builder {
        private final WorkerCatalog catalog;
        private final WorkerCatalogSource source;
        private final Scheduler scheduler;
        private CatalogObserver observer = CatalogObserver.none();
        private ClosePolicy closePolicy = ClosePolicy.clear();
        private CollapseGuard guard = CollapseGuard.off();
        private Duration retryDelay = Duration.ofSeconds(5);

        private Builder(WorkerCatalog catalog, WorkerCatalogSource source, Scheduler scheduler) {
            this.catalog = Objects.requireNonNull(catalog, "catalog");
            this.source = Objects.requireNonNull(source, "source");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        }

        /** Default: none. */
        public Builder observer(CatalogObserver observer) {
            this.observer = observer;
            return this;
        }

        /** Default: {@link ClosePolicy#clear()}. */
        public Builder closePolicy(ClosePolicy closePolicy) {
            this.closePolicy = closePolicy;
            return this;
        }

        /** Default: {@link CollapseGuard#off()}. */
        public Builder collapseGuard(CollapseGuard guard) {
            this.guard = guard;
            return this;
        }

        /**
         * When failed and unschedulable workers are tried again; default 5 s.
         *
         * @throws BadRequestException unless above 0
         */
        public Builder retryDelay(Duration retryDelay) {
            this.retryDelay = Periods.requirePositive("retry_delay", retryDelay);
            return this;
        }

        public CatalogReconciler build() {
            return new CatalogReconciler(this);
        }
    }
}

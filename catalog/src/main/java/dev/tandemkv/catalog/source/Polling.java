package dev.tandemkv.catalog.source;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.time.Scheduler;
import java.time.Duration;
import java.util.HashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A source that has to look: reads the membership when asked, and again and again until it differs from what was answered last. Nothing
 * runs while nobody asks. What cannot be read fails the question only while nothing was answered yet; afterwards the last good state
 * stands and the problem is reported once. Thread-safe.
 */
final class Polling implements WorkerCatalogSource {

    private static final Logger LOG = LoggerFactory.getLogger(WorkerCatalogSource.class);

    private final String name;
    private final Scheduler scheduler;
    private final Duration period;
    private final Supplier<? extends CompletionStage<CatalogSnapshot>> reader;
    private final SourceObserver observer;

    // All guarded by this.
    private @Nullable CompletableFuture<Optional<CatalogSnapshot>> asked;
    private @Nullable Set<?> answered;
    private @Nullable String problem;
    private Scheduler.@Nullable Task nextLook;
    private boolean closed;

    /**
     * @param name what is read, for messages
     * @param reader reads the membership; may throw or fail
     */
    Polling(
            String name,
            Scheduler scheduler,
            Duration period,
            Supplier<? extends CompletionStage<CatalogSnapshot>> reader,
            SourceObserver observer) {
        this.name = name;
        this.scheduler = scheduler;
        this.period = period;
        this.reader = reader;
        this.observer = observer;
    }

    @Override
    public CompletionStage<Optional<CatalogSnapshot>> nextSnapshot() {
        CompletableFuture<Optional<CatalogSnapshot>> question;
        boolean first;
        synchronized (this) {
            if (closed) {
                return CompletableFuture.completedStage(Optional.empty());
            }
            if (asked != null) {
                return asked.minimalCompletionStage();
            }
            question = new CompletableFuture<>();
            asked = question;
            first = answered == null;
        }
        if (first) {
            look();
        } else {
            lookLater();
        }
        return question.minimalCompletionStage();
    }

    @Override
    public void close() {
        CompletableFuture<Optional<CatalogSnapshot>> open;
        Scheduler.Task look;
        synchronized (this) {
            closed = true;
            open = asked;
            asked = null;
            look = nextLook;
            nextLook = null;
        }
        if (look != null) {
            look.cancel();
        }
        if (open != null) {
            open.complete(Optional.empty());
        }
    }

    private void lookLater() {
        Scheduler.Task task = scheduler.schedule(period, this::look);
        boolean tooLate;
        synchronized (this) {
            nextLook = task;
            tooLate = closed;
        }
        if (tooLate) {
            task.cancel();
        }
    }

    private void look() {
        CompletionStage<CatalogSnapshot> read;
        try {
            read = Objects.requireNonNull(reader.get(), "the reader's answer");
        } catch (RuntimeException | Error e) {
            failed(e);
            return;
        }
        read.whenComplete((snapshot, failure) -> {
            if (snapshot == null) {
                failed(failure == null ? new IllegalStateException("an answer with nothing in it") : failure);
            } else {
                seen(snapshot);
            }
        });
    }

    private void seen(CatalogSnapshot snapshot) {
        Set<?> canonical = canonical(snapshot);
        CompletableFuture<Optional<CatalogSnapshot>> answer = null;
        synchronized (this) {
            problem = null;
            if (!canonical.equals(answered)) {
                answered = canonical;
                answer = asked;
                asked = null;
            }
        }
        if (answer != null) {
            answer.complete(Optional.of(snapshot));
        } else if (isAsked()) {
            lookLater();
        }
    }

    private synchronized boolean isAsked() {
        return asked != null;
    }

    /** Order and spelling are no change; the number of workers is part of it because a set hides one that is listed twice. */
    private static Set<?> canonical(CatalogSnapshot snapshot) {
        Set<Object> set = new HashSet<>();
        snapshot.workers().forEach(worker -> set.add(worker.canonical()));
        set.add(snapshot.workers().size());
        return set;
    }

    private void failed(Throwable failure) {
        SourceException cause = typed(failure);
        CompletableFuture<Optional<CatalogSnapshot>> question = null;
        boolean report;
        synchronized (this) {
            if (answered == null) {
                question = asked;
                asked = null;
            }
            report = question == null && !String.valueOf(cause.getMessage()).equals(problem);
            problem = cause.getMessage();
        }
        if (question != null) {
            question.completeExceptionally(cause);
            return;
        }
        if (report) {
            report(cause);
        }
        if (isAsked()) {
            lookLater();
        }
    }

    private void report(SourceException cause) {
        LOG.warn("The last good membership stands: {}", cause.getMessage());
        try {
            observer.onProblem(cause);
        } catch (RuntimeException e) {
            LOG.warn("A source observer failed", e);
        }
    }

    private SourceException typed(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof SourceException typed) {
            return typed;
        }
        String text = cause instanceof SelectionException ? cause.getMessage() : cause.toString();
        return new SourceException(name, String.valueOf(text), cause);
    }
}

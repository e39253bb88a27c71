package dev.tandemkv.catalog.source;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A membership told by a program: by tests, or by the watcher of an orchestrator that already has one. Only the latest snapshot counts;
 * one that nobody asked for in time is superseded. Thread-safe; stages complete on the thread that publishes, outside the lock.
 */
public final class InMemorySource implements WorkerCatalogSource {

    // All guarded by this.
    private @Nullable CatalogSnapshot latest;
    private boolean delivered;
    private @Nullable Throwable failure;
    private boolean closed;
    private @Nullable CompletableFuture<Optional<CatalogSnapshot>> asked;

    /** A source that has no membership to tell yet. */
    public InMemorySource() {}

    /** Makes a snapshot the membership. Does nothing after {@link #close}. */
    public void publish(CatalogSnapshot snapshot) {
        Objects.requireNonNull(snapshot, "snapshot");
        CompletableFuture<Optional<CatalogSnapshot>> waiting;
        synchronized (this) {
            if (closed) {
                return;
            }
            latest = snapshot;
            failure = null;
            waiting = takeAsked();
            delivered = waiting != null;
        }
        if (waiting != null) {
            waiting.complete(Optional.of(snapshot));
        }
    }

    /** Fails the present or the next question; the one after it is answered with the membership again. */
    public void fail(Throwable cause) {
        Objects.requireNonNull(cause, "cause");
        CompletableFuture<Optional<CatalogSnapshot>> waiting;
        synchronized (this) {
            if (closed) {
                return;
            }
            delivered = false;
            waiting = takeAsked();
            failure = waiting == null ? cause : null;
        }
        if (waiting != null) {
            waiting.completeExceptionally(cause);
        }
    }

    @Override
    public void close() {
        CompletableFuture<Optional<CatalogSnapshot>> waiting;
        synchronized (this) {
            closed = true;
            waiting = takeAsked();
        }
        if (waiting != null) {
            waiting.complete(Optional.empty());
        }
    }

    @Override
    public synchronized CompletionStage<Optional<CatalogSnapshot>> nextSnapshot() {
        if (closed) {
            return CompletableFuture.completedStage(Optional.empty());
        }
        if (failure != null) {
            Throwable cause = failure;
            failure = null;
            return CompletableFuture.failedStage(cause);
        }
        if (latest != null && !delivered) {
            delivered = true;
            return CompletableFuture.completedStage(Optional.of(latest));
        }
        if (asked == null) {
            asked = new CompletableFuture<>();
        }
        return asked.minimalCompletionStage();
    }

    private @Nullable CompletableFuture<Optional<CatalogSnapshot>> takeAsked() {
        CompletableFuture<Optional<CatalogSnapshot>> taken = asked;
        asked = null;
        return taken;
    }
}

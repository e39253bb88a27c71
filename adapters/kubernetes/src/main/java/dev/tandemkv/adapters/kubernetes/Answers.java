package dev.tandemkv.adapters.kubernetes;

import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.source.CatalogSnapshot;
import dev.tandemkv.catalog.source.SourceException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The question of a source's caller and what there is to answer it: the latest membership, once it differs from the one answered last.
 * Thread-safe; stages complete on the thread that brings the answer, outside the lock.
 */
final class Answers {

    /** A snapshot beside its canonical form: order and spelling are no change. A set hides a worker that is listed twice, so its size counts. */
    private record Membership(CatalogSnapshot snapshot, Set<WorkerSpec> canonical, int size) {

        static Membership of(CatalogSnapshot snapshot) {
            Set<WorkerSpec> canonical = new HashSet<>();
            snapshot.workers().forEach(worker -> canonical.add(worker.canonical()));
            return new Membership(snapshot, canonical, snapshot.workers().size());
        }

        boolean differsFrom(@Nullable Membership other) {
            return other == null || size != other.size || !canonical.equals(other.canonical);
        }
    }

    private static final Membership NOBODY = Membership.of(CatalogSnapshot.empty());

    // All guarded by this.
    private @Nullable CompletableFuture<Optional<CatalogSnapshot>> asked;
    private @Nullable Membership latest;
    private @Nullable Membership answered;
    private boolean ending;
    private boolean closed;

    synchronized CompletionStage<Optional<CatalogSnapshot>> ask() {
        if (closed) {
            return CompletableFuture.completedStage(Optional.empty());
        }
        if (asked != null) {
            return asked.minimalCompletionStage();
        }
        if (latest != null && latest.differsFrom(answered)) {
            answered = latest;
            return CompletableFuture.completedStage(Optional.of(latest.snapshot));
        }
        if (ending) {
            return CompletableFuture.completedStage(Optional.empty());
        }
        asked = new CompletableFuture<>();
        return asked.minimalCompletionStage();
    }

    /** Makes a snapshot the latest membership; does nothing after {@link #end} or {@link #close}. */
    void offer(CatalogSnapshot snapshot) {
        offer(Membership.of(snapshot));
    }

    private void offer(Membership membership) {
        CompletableFuture<Optional<CatalogSnapshot>> question;
        synchronized (this) {
            if (closed || ending) {
                return;
            }
            latest = membership;
            if (asked == null || !membership.differsFrom(answered)) {
                return;
            }
            question = asked;
            asked = null;
            answered = membership;
        }
        question.complete(Optional.of(membership.snapshot));
    }

    /** Fails the open question if nothing was answered yet; afterwards what was answered stands. */
    boolean failFirst(SourceException cause) {
        CompletableFuture<Optional<CatalogSnapshot>> question;
        synchronized (this) {
            if (asked == null || answered != null) {
                return false;
            }
            question = asked;
            asked = null;
        }
        question.completeExceptionally(cause);
        return true;
    }

    synchronized boolean hasAnswered() {
        return answered != null;
    }

    /** There are no workers any more and there never will be: the next answer is an empty membership, and then that the source is closed. */
    void end() {
        offer(NOBODY);
        CompletableFuture<Optional<CatalogSnapshot>> question;
        synchronized (this) {
            ending = true;
            question = asked;
            asked = null;
        }
        if (question != null) {
            question.complete(Optional.empty());
        }
    }

    void close() {
        CompletableFuture<Optional<CatalogSnapshot>> question;
        synchronized (this) {
            closed = true;
            question = asked;
            asked = null;
        }
        if (question != null) {
            question.complete(Optional.empty());
        }
    }
}

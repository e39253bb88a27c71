package dev.tandemkv.adapters.kubernetes;

import dev.tandemkv.catalog.source.SourceException;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The objects of one request, kept up to date by an informer.
 *
 * <p>The informer lists, watches, and after a failure or a {@code 410 Gone} lists again, with a backoff of its own. It does not tell of a
 * watch that it loses and tries to open again, and there are answers to that which make it try for ever; so {@link #check} looks from
 * outside, and an informer that does not watch for long is replaced by a fresh one, which begins with a list.
 *
 * <p>Thread-safe. The client's threads tell of changes and failures; everything else is called by the source's step, and {@link #close}
 * by anyone.
 */
final class Following<T> implements AutoCloseable {

    /** How many checks in a row may find an informer that does not watch before it counts as a problem, and before it is replaced. */
    private static final int CHECKS_BEFORE_PROBLEM = 2;

    private static final int FIRST_PATIENCE = 6;
    private static final int LONGEST_PATIENCE = 60;
    private static final int DEEPEST_CAUSE = 16;

    private final Runnable changed;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    // Touched by the source's step alone.
    private String name = "";
    private @Nullable Informable<T> request;
    private int misses;
    private int patience = FIRST_PATIENCE;

    // Guarded by this.
    private @Nullable Attempt present;
    private boolean closed;

    /** @param changed called on the client's threads after every change and every failure */
    Following(Runnable changed) {
        this.changed = changed;
    }

    /**
     * Follows another request from now on. Until it is answered there are no items.
     *
     * @param name what is followed, for messages
     */
    void follow(String name, Informable<T> request) {
        this.name = name;
        this.request = request;
        patience = FIRST_PATIENCE;
        begin(request);
    }

    private void begin(Informable<T> request) {
        misses = 0;
        failure.set(null);
        Attempt fresh = new Attempt(request.runnableInformer(0));
        Attempt former;
        synchronized (this) {
            if (closed) {
                return;
            }
            former = present;
            present = fresh;
        }
        if (former != null) {
            former.stop();
        }
        try {
            fresh.start();
        } catch (RuntimeException e) {
            failure.set(e);
        }
    }

    String name() {
        return name;
    }

    private synchronized @Nullable Attempt present() {
        return present;
    }

    /** What there is as of now; empty while the request has not been answered completely. */
    Optional<List<T>> items() {
        Attempt attempt = present();
        return attempt == null || !attempt.listed
                ? Optional.empty()
                : Optional.of(attempt.informer.getStore().list());
    }

    boolean isWatching() {
        Attempt attempt = present();
        return attempt != null && attempt.isWatching();
    }

    /** What has failed since the last call, or {@code null}. */
    @Nullable
    SourceException takeFailure() {
        Throwable taken = failure.getAndSet(null);
        if (taken == null) {
            return null;
        }
        return new SourceException(name, text(taken), taken);
    }

    /** What the server answered, or else the first cause: the client's own messages differ from one attempt to the next. */
    private static String text(Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; depth < DEEPEST_CAUSE; depth++) {
            if (cause instanceof KubernetesClientException refusal && refusal.getCode() != 0) {
                Status status = refusal.getStatus();
                return "HTTP " + refusal.getCode()
                        + (status == null || status.getMessage() == null ? "" : ": " + status.getMessage());
            }
            if (cause.getCause() == null) {
                break;
            }
            cause = cause.getCause();
        }
        return cause.toString();
    }

    /**
     * To be called again and again, in the same distance.
     *
     * @return whether the watch counts as lost
     */
    boolean check() {
        if (request == null) {
            return false;
        }
        if (isWatching()) {
            misses = 0;
            patience = FIRST_PATIENCE;
            return false;
        }
        misses++;
        boolean lost = misses >= CHECKS_BEFORE_PROBLEM;
        if (misses >= patience) {
            patience = Math.min(2 * patience, LONGEST_PATIENCE);
            begin(request);
        }
        return lost;
    }

    @Override
    public void close() {
        Attempt last;
        synchronized (this) {
            closed = true;
            last = present;
        }
        if (last != null) {
            last.stop();
        }
    }

    /** One informer; what it tells after its successor has begun is not heard. */
    private final class Attempt implements ResourceEventHandler<T> {
        private final SharedIndexInformer<T> informer;
        private volatile boolean listed;
        private volatile boolean stopped;

        Attempt(SharedIndexInformer<T> informer) {
            this.informer = informer;
            informer.addEventHandler(this);
            informer.exceptionHandler((started, cause) -> failed(cause));
        }

        /** A stop that comes meanwhile is made up for; one that came before makes the start fail, which nobody hears any more. */
        void start() {
            informer.start();
            if (stopped) {
                stop();
            }
        }

        synchronized void stop() {
            stopped = true;
            informer.stop();
        }

        /** Not while it is stopped, which it does not bear. */
        synchronized boolean isWatching() {
            return !stopped && informer.isWatching();
        }

        /** @return that the informer shall try again */
        private boolean failed(Throwable cause) {
            if (present() == this) {
                failure.set(cause);
                changed.run();
            }
            return true;
        }

        private void told() {
            if (listed && present() == this) {
                changed.run();
            }
        }

        @Override
        public void onList(String resourceVersion, boolean remainedEmpty) {
            listed = true;
            told();
        }

        @Override
        public void onAdd(T object) {
            told();
        }

        @Override
        public void onUpdate(T before, T after) {
            told();
        }

        @Override
        public void onDelete(T object, boolean finalStateUnknown) {
            told();
        }
    }
}

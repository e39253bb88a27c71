package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.internal.Timers;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a host that are not over. While there is one, a sweep runs every third of the lease: it renews what is booked, and lets
 * go of responses whose handle was lost unread.
 *
 * <p>Thread-safe. It holds the response, never its handle. Who admits a request and who closes the host each set a mark of their own
 * before they look at the other's, so that no request outlives the host.
 */
final class OpenRequests {

    private final HostParts<?, ?> parts;
    private final Releases releases;
    private final Set<HostedRequest<?, ?>> open = ConcurrentHashMap.newKeySet();
    /** Counted before a request is added and after it is removed, so that the limit cannot be overrun. */
    private final AtomicInteger count = new AtomicInteger();

    private final Map<HostedRequest<?, ?>, Watch> handles = new ConcurrentHashMap<>();
    private final ReferenceQueue<StreamHandle<?>> lost = new ReferenceQueue<>();
    private volatile boolean closed;

    private final Object sweepLock = new Object();
    /** Guarded by the sweep lock. */
    private Scheduler.@Nullable Task sweep;

    OpenRequests(HostParts<?, ?> parts, Releases releases) {
        this.parts = parts;
        this.releases = releases;
    }

    /** Notices that a handle is gone. */
    private static final class Watch extends PhantomReference<StreamHandle<?>> {
        private final HostedRequest<?, ?> request;
        private final GuardedStream<?, ?> stream;

        Watch(
                StreamHandle<?> handle,
                HostedRequest<?, ?> request,
                GuardedStream<?, ?> stream,
                ReferenceQueue<StreamHandle<?>> queue) {
            super(handle, queue);
            this.request = request;
            this.stream = stream;
        }
    }

    /** Takes a request in before anything is done for it. */
    void admit(HostedRequest<?, ?> request) {
        if (closed) {
            throw shutdown();
        }
        int limit = parts.maxOpenRequests();
        if (count.incrementAndGet() + releases.count() > limit) {
            count.decrementAndGet();
            throw new RequestLimitException(limit);
        }
        open.add(request);
        if (closed) {
            request.stop(shutdown());
        }
        keepSweeping();
    }

    <R> StreamHandle<R> handOut(HostedRequest<?, R> request, GuardedStream<?, R> stream) {
        StreamHandle<R> handle = new StreamHandle<>(stream);
        handles.put(request, new Watch(handle, request, stream, lost));
        if (!open.contains(request)) {
            handles.remove(request);
        }
        return handle;
    }

    void over(HostedRequest<?, ?> request) {
        if (open.remove(request)) {
            count.decrementAndGet();
        }
        handles.remove(request);
    }

    int count() {
        return count.get();
    }

    /** Refuses further requests and stops the open ones. */
    void close() {
        closed = true;
        open.forEach(request -> request.stop(shutdown()));
    }

    private static SelectionException shutdown() {
        return new ShutdownException("routing host");
    }

    private void keepSweeping() {
        synchronized (sweepLock) {
            if (sweep == null) {
                Duration third = parts.lease().dividedBy(3);
                // Refused, it is tried again with the next request.
                sweep = Timers.start(parts.scheduler(), third, this::sweep);
            }
        }
    }

    private void sweep() {
        for (Object next = lost.poll(); next != null; next = lost.poll()) {
            if (next instanceof Watch watch && handles.remove(watch.request, watch)) {
                forgotten(watch);
            }
        }
        open.forEach(HostedRequest::renew);
        synchronized (sweepLock) {
            sweep = null;
        }
        if (!open.isEmpty()) {
            keepSweeping();
        }
    }

    /** A response that is being read ends by itself; one that nobody can read any more does not. */
    private void forgotten(Watch watch) {
        if (watch.stream.isUnread()) {
            parts.observer()
                    .onForgotten(watch.request.id(), watch.stream.selection().worker(), watch.request.age());
            watch.stream.close();
        }
    }
}

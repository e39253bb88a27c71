package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.Scheduler;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * When a request really stops: with its client, or, where KV is staged for it, a bounded time later. One budget for every stage of the
 * request. Thread-safe; the lock guards the timer and whether the request is over.
 */
final class Stop implements AutoCloseable {

    private final CancellationSignal.Source effective = CancellationSignal.source();
    private final Object lock = new Object();
    private final CancellationSignal.Registration client;
    private Scheduler.@Nullable Task grace;
    private boolean over;

    Stop(CancellationSignal clientStopped, Phase phase, Duration stagedGrace, Scheduler scheduler) {
        client = clientStopped.onCancel(() -> {
            if (phase.outlivesClient()) {
                startGrace(stagedGrace, scheduler);
            } else {
                effective.cancel();
            }
        });
    }

    private void startGrace(Duration stagedGrace, Scheduler scheduler) {
        synchronized (lock) {
            if (!over) {
                grace = scheduler.schedule(stagedGrace, effective::cancel);
            }
        }
    }

    CancellationSignal signal() {
        return effective;
    }

    /** The request is over. */
    @Override
    public void close() {
        client.close();
        synchronized (lock) {
            over = true;
            if (grace != null) {
                grace.cancel();
            }
        }
    }
}

package dev.tandemkv.coordinator.internal;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells the decode pool once that the local prefill of a bypass is done: callers join the call that is running or has succeeded, and a
 * failed one can be repeated. Thread-safe; the lock guards the field alone.
 */
final class DecodeMark {

    private final Object lock = new Object();
    private @Nullable CompletableFuture<Void> last;

    CompletableFuture<Void> mark(Supplier<CompletableFuture<Void>> call) {
        CompletableFuture<Void> mine = new CompletableFuture<>();
        synchronized (lock) {
            if (last != null) {
                return last.copy();
            }
            last = mine;
        }
        call.get().whenComplete((done, failure) -> {
            if (failure == null) {
                mine.complete(null);
            } else {
                forget();
                mine.completeExceptionally(Failures.unwrap(failure));
            }
        });
        return mine.copy();
    }

    private void forget() {
        synchronized (lock) {
            last = null;
        }
    }
}

package dev.tandemkv.selection.internal.run;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The stage a caller gets. A caller that completes it, by a cancel or a timeout, has given the request up: it is withdrawn. What callers
 * derive from it are ordinary futures, which do not reach the core.
 */
final class PendingStage<T> extends CompletableFuture<T> {

    /** What cancelling does; set before the stage is handed out. */
    private volatile @Nullable Runnable withdrawal;

    void onCancel(Runnable withdraw) {
        withdrawal = withdraw;
    }

    /** Completes the stage; false if it was cancelled before, and then the value is still the core's to dispose of. */
    boolean settle(T value) {
        return super.complete(value);
    }

    boolean fail(Throwable failure) {
        return super.completeExceptionally(failure);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return givenUp(super.cancel(mayInterruptIfRunning));
    }

    @Override
    public boolean complete(T value) {
        return givenUp(super.complete(value));
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        return givenUp(super.completeExceptionally(failure));
    }

    private boolean givenUp(boolean byThisCall) {
        Runnable withdraw = withdrawal;
        if (byThisCall && withdraw != null) {
            withdraw.run();
        }
        return byThisCall;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}

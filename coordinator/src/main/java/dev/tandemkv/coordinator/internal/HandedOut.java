package dev.tandemkv.coordinator.internal;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A stage given to a caller. Whoever completes or cancels it before its answer comes withdraws the request behind it; the answer then has
 * nobody to go to, which {@link #answer} tells.
 */
public final class HandedOut<T> extends CompletableFuture<T> {

    private final Runnable withdraw;

    public HandedOut(Runnable withdraw) {
        this.withdraw = withdraw;
    }

    /** Gives the answer; false if the caller has withdrawn. */
    public boolean answer(T value) {
        return super.complete(value);
    }

    /** Fails; false if the caller has withdrawn. */
    public boolean answerFailure(Throwable failure) {
        return super.completeExceptionally(failure);
    }

    @Override
    public boolean complete(T value) {
        return withdrawIf(super.complete(value));
    }

    @Override
    public boolean completeExceptionally(@Nullable Throwable failure) {
        return withdrawIf(super.completeExceptionally(failure));
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean answered = isDone();
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        withdrawIf(cancelled && !answered);
        return cancelled;
    }

    private boolean withdrawIf(boolean first) {
        if (first) {
            withdraw.run();
        }
        return first;
    }
}

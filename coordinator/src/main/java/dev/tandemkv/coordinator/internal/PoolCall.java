package dev.tandemkv.coordinator.internal;

import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Calls a pool: what it throws, or a missing stage or answer, becomes a failure, and wrappers come off. */
public final class PoolCall {

    private PoolCall() {}

    /** Hears exactly one of the two. */
    public interface Answer<T> {
        void done(@Nullable T value, @Nullable Throwable failure);
    }

    public static <T> void start(Supplier<? extends CompletionStage<T>> call, Answer<? super T> answer) {
        CompletionStage<T> stage;
        try {
            stage = call.get();
        } catch (RuntimeException e) {
            answer.done(null, e);
            return;
        }
        if (stage == null) {
            answer.done(null, new IllegalStateException("pool answered no stage"));
            return;
        }
        BiConsumer<@Nullable T, @Nullable Throwable> relay =
                (value, failure) -> answer.done(value, failure == null ? null : Failures.unwrap(failure));
        stage.whenComplete(relay);
    }
}

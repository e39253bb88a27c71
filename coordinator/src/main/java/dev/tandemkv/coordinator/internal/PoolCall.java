package dev.tandemkv.coordinator.internal;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Calls a pool or another port of the host: whatever it throws, and a missing stage, becomes a failure, wrappers come off, and the first answer counts. */
public final class PoolCall {

    private PoolCall() {}

    /** Hears exactly one of the two. */
    public interface Answer<T> {
        void done(@Nullable T value, @Nullable Throwable failure);
    }

    public static <T> void start(Supplier<? extends CompletionStage<T>> call, Answer<? super T> answer) {
        Once<T> once = new Once<>(answer);
        try {
            CompletionStage<T> stage = call.get();
            if (stage == null) {
                once.accept(null, new IllegalStateException("the call answered no stage"));
            } else {
                stage.whenComplete(once);
            }
        } catch (Throwable broken) {
            // An error as well: the pool may have booked before it broke, and the plan has to come to its end.
            once.accept(null, broken);
        }
    }

    /** Passes the first answer on; a stage that is not of the JDK may give several. */
    private static final class Once<T> implements BiConsumer<@Nullable T, @Nullable Throwable> {
        private final Answer<? super T> answer;
        private final AtomicBoolean answered = new AtomicBoolean();

        Once(Answer<? super T> answer) {
            this.answer = answer;
        }

        @Override
        public void accept(@Nullable T value, @Nullable Throwable failure) {
            if (answered.compareAndSet(false, true)) {
                answer.done(value, failure == null ? null : Failures.unwrap(failure));
            }
        }
    }
}

package dev.tandemkv.affinity;

import dev.tandemkv.catalog.ConflictException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Whether a table has a sink for its replicas, and which. Started at most once; a start that failed may be tried again. Thread-safe. */
final class Replication {

    private final AtomicReference<State> state = new AtomicReference<>(Idle.INSTANCE);

    private sealed interface State {}

    private enum Idle implements State {
        INSTANCE
    }

    private record Starting(long origin) implements State {}

    private record Active(long origin, AffinityReplicaSink sink) implements State {}

    CompletionStage<Void> start(
            long origin, Supplier<? extends CompletionStage<? extends AffinityReplicaSink>> opener, Runnable onActive) {
        Starting starting = new Starting(origin);
        if (!state.compareAndSet(Idle.INSTANCE, starting)) {
            return CompletableFuture.failedStage(new ConflictException(
                    "session affinity replication", Long.toUnsignedString(origin), "started already"));
        }
        CompletionStage<? extends AffinityReplicaSink> opened;
        try {
            opened = opener.get();
        } catch (RuntimeException e) {
            state.set(Idle.INSTANCE);
            return CompletableFuture.failedStage(e);
        }
        return opened.<Void>handle((sink, failure) -> {
            if (failure != null) {
                state.set(Idle.INSTANCE);
                throw failure instanceof RuntimeException e ? e : new CompletionException(failure);
            }
            state.set(new Active(origin, sink));
            onActive.run();
            return null;
        });
    }

    @Nullable
    AffinityReplicaSink sink() {
        return state.get() instanceof Active active ? active.sink : null;
    }

    /** This replica's id; 0 while replication is off. */
    long origin() {
        return state.get() instanceof Active active ? active.origin : 0;
    }

    boolean isActive() {
        return state.get() instanceof Active;
    }
}

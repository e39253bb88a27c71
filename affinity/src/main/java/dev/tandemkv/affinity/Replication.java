package dev.tandemkv.affinity;

import dev.tandemkv.affinity.internal.Effects;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.PartitionKey;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a table tells its replicas, once it has a sink to tell it to. Started at most once; a start that failed may be tried again.
 * Thread-safe.
 */
final class Replication {

    private static final Logger LOG = LoggerFactory.getLogger(SessionAffinity.class);

    private final PartitionKey partition;
    private final Tally tally;
    private final AtomicReference<State> state = new AtomicReference<>(Idle.INSTANCE);

    Replication(PartitionKey partition, Tally tally) {
        this.partition = partition;
        this.tally = tally;
    }

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

    /** Called outside every lock; a record that the sink does not take is counted and forgotten. */
    void publish(String sessionId, Effects.Announcement announcement) {
        if (!(state.get() instanceof Active active)) {
            return;
        }
        boolean taken;
        try {
            taken = active.sink.publish(new AffinityReplicaRecord(
                    partition, sessionId, announcement.target(), announcement.version(), active.origin));
        } catch (RuntimeException e) {
            LOG.warn("An affinity replica sink failed", e);
            taken = false;
        }
        if (taken) {
            tally.published();
        } else {
            tally.publishDropped();
        }
    }

    /** This replica's id; 0 while replication is off. */
    long origin() {
        return state.get() instanceof Active active ? active.origin : 0;
    }
}

package dev.tandemkv.affinity;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.time.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** A table in virtual time, and the short forms that the tests speak in. */
final class Tables {

    static final Duration TTL = Duration.ofSeconds(10);

    final VirtualTime time = new VirtualTime();
    final List<AffinityReplicaRecord> published = new ArrayList<>();
    final SessionAffinity table;
    final AffinityResolver resolver;
    boolean sinkAccepts = true;
    Consumer<AffinityReplicaRecord> onTombstone = record -> {};

    private Tables(AffinityConfig config) {
        table = SessionAffinity.builder(config, time, time.clock(), time).build();
        resolver = new AffinityResolver(table);
    }

    static Tables hard() {
        return with(c -> c);
    }

    static Tables soft(RebindMoment moment) {
        return with(c -> c.mode(AffinityMode.SOFT).rebindMoment(moment));
    }

    static Tables with(UnaryOperator<AffinityConfig.Builder> config) {
        return new Tables(config.apply(AffinityConfig.builder(TTL)).build());
    }

    static Tables ttl(Duration ttl) {
        return new Tables(AffinityConfig.builder(ttl).build());
    }

    Tables replicated(long origin) {
        table.startReplication(
                origin,
                () -> CompletableFuture.completedStage(record -> {
                    if (sinkAccepts) {
                        published.add(record);
                    }
                    if (record.isTombstone()) {
                        onTombstone.accept(record);
                    }
                    return sinkAccepts;
                }));
        return this;
    }

    AffinityHold hold(String session) {
        return ((Acquisition.Held) table.tryAcquire(session, null)).hold();
    }

    AffinityWait await(String session) {
        return ((Acquisition.Waiting) table.tryAcquire(session, null)).turn();
    }

    AffinityLease bind(String session, AffinityTarget target) {
        return hold(session).commit(target);
    }

    /** Bound and idle. */
    Tables bound(String session, AffinityTarget target) {
        bind(session, target).close();
        return this;
    }

    AffinityBinding binding(String session) {
        return table.find(session).orElseThrow();
    }

    int leases(String session) {
        return binding(session).activeLeases();
    }

    void advance(long millis) {
        time.advance(Duration.ofMillis(millis));
    }

    static AffinityTarget target(long worker, int rank) {
        return new AffinityTarget(worker, rank);
    }

    static AffinityTarget worker(long worker) {
        return AffinityTarget.ofWorker(worker);
    }

    static <T> T now(CompletionStage<T> stage) {
        return stage.toCompletableFuture().getNow(null);
    }

    static boolean isDone(CompletionStage<?> stage) {
        return stage.toCompletableFuture().isDone();
    }

    /** What a stage failed with. */
    static SelectionException failure(CompletionStage<?> stage) {
        try {
            stage.toCompletableFuture().getNow(null);
        } catch (CompletionException e) {
            return (SelectionException) e.getCause();
        }
        throw new AssertionError("not failed");
    }

    AffinityHold resolve(String session) {
        return resolve(SessionRequest.of(session, t -> true)).orElseThrow();
    }

    Optional<AffinityHold> resolve(SessionRequest request) {
        return now(resolver.resolve(request));
    }
}

package dev.tandemkv.adapters.kubernetes;

import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.source.CatalogSnapshot;
import dev.tandemkv.catalog.source.SourceException;
import dev.tandemkv.catalog.time.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;

/** A source in virtual time and who asks it. Time passes only while something is waited for. */
final class Asking implements AutoCloseable {

    /** Longer than changes are collected; the looks at the watches are a year apart, unless a test says otherwise. */
    static final Duration STEP = Duration.ofMillis(250);

    private static final int MOST_ANSWERS = 200;

    final VirtualTime time = new VirtualTime();
    final List<SourceException> problems = new CopyOnWriteArrayList<>();
    final KubernetesCatalogSource source;

    Asking(Function<VirtualTime, KubernetesCatalogSource.Builder> builder) {
        this(builder, Duration.ofDays(365));
    }

    Asking(Function<VirtualTime, KubernetesCatalogSource.Builder> builder, Duration checkPeriod) {
        source = builder.apply(time)
                .checkPeriod(checkPeriod)
                .observer(problems::add)
                .build();
    }

    CompletableFuture<Optional<CatalogSnapshot>> ask() {
        return source.nextSnapshot().toCompletableFuture();
    }

    /** The answer, waited for; fails as the question fails. */
    Optional<CatalogSnapshot> next() {
        CompletableFuture<Optional<CatalogSnapshot>> question = ask();
        passUntil("an answer", question::isDone);
        return question.join();
    }

    List<WorkerSpec> workers() {
        return next().orElseThrow().workers();
    }

    /** The first membership that is as wanted. */
    List<WorkerSpec> until(String what, Predicate<List<WorkerSpec>> wanted) {
        for (int i = 0; i < MOST_ANSWERS; i++) {
            List<WorkerSpec> workers = workers();
            if (wanted.test(workers)) {
                return workers;
            }
        }
        throw new AssertionError("not among " + MOST_ANSWERS + " answers: " + what);
    }

    void passUntil(String what, BooleanSupplier condition) {
        Eventually.await(what, () -> {
            time.advance(STEP);
            return condition.getAsBoolean();
        });
    }

    @Override
    public void close() {
        source.close();
    }
}

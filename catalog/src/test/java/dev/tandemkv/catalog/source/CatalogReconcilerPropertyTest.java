package dev.tandemkv.catalog.source;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.NaiveCatalog;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * After any sequence of snapshots, failures and retries, once nothing fails any more and the retries have run, the catalog equals the
 * last valid snapshot plus what others registered.
 */
class CatalogReconcilerPropertyTest {

    private static final long FIRST_FOREIGN = 100;

    sealed interface Act {}

    record Publish(List<Worker> workers) implements Act {}

    record Worker(int id, int variant) {

        WorkerSpec spec() {
            WorkerSpec.Builder builder = WorkerSpec.builder(id).taints(Set.of("v" + variant));
            // Variant 0 lacks its metadata and stays incomplete.
            return (variant == 0 ? builder : builder.endpoint("h:80").blockSize(16)).build();
        }
    }

    record Break(int id) implements Act {}

    record Mend(int id) implements Act {}

    record SourceFails() implements Act {}

    record Foreign(int id) implements Act {}

    record Advance(int seconds) implements Act {}

    @Provide
    Arbitrary<List<Act>> acts() {
        Arbitrary<Integer> ids = Arbitraries.integers().between(1, 6);
        Arbitrary<Worker> worker = net.jqwik.api.Combinators.combine(
                        ids, Arbitraries.integers().between(0, 3))
                .as(Worker::new);
        // No uniqueness: some snapshots list an id twice and are invalid.
        Arbitrary<Act> publish = worker.list().ofMaxSize(6).map(Publish::new);
        return Arbitraries.<Act>frequencyOf(
                        net.jqwik.api.Tuple.of(6, publish),
                        net.jqwik.api.Tuple.of(2, ids.map(Break::new)),
                        net.jqwik.api.Tuple.of(2, ids.map(Mend::new)),
                        net.jqwik.api.Tuple.of(1, Arbitraries.create(SourceFails::new)),
                        net.jqwik.api.Tuple.of(1, ids.map(Foreign::new)),
                        net.jqwik.api.Tuple.of(
                                3, Arbitraries.integers().between(0, 12).map(Advance::new)))
                .list()
                .ofMaxSize(40);
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void reconciler_anySequence_endsAtTheLastValidSnapshotPlusOthers(@ForAll("acts") List<Act> acts) {
        VirtualTime time = new VirtualTime();
        NaiveCatalog catalog = new NaiveCatalog();
        InMemorySource source = new InMemorySource();
        Map<Long, WorkerSpec> told = new HashMap<>();
        CatalogObserver mirror = new CatalogObserver() {
            @Override
            public void upserted(WorkerRecord record) {
                told.put(record.workerId(), record.spec());
            }

            @Override
            public void removed(WorkerRecord record) {
                told.remove(record.workerId());
            }
        };
        CatalogReconciler reconciler = CatalogReconciler.builder(catalog, source, time)
                .observer(mirror)
                .build();
        reconciler.start();
        List<WorkerSpec> lastValid = List.of();
        Set<Long> foreign = new HashSet<>();

        for (Act act : acts) {
            if (act instanceof Publish publish) {
                List<WorkerSpec> specs =
                        publish.workers.stream().map(Worker::spec).toList();
                source.publish(new CatalogSnapshot(specs));
                if (specs.stream().map(WorkerSpec::workerId).distinct().count() == specs.size()) {
                    lastValid = specs;
                } else {
                    // Only the latest counts: one that nobody fetched yet is superseded even by an invalid one. Let
                    // each be fetched.
                    time.advance(Duration.ZERO);
                }
            } else if (act instanceof Break broken) {
                catalog.failing.put((long) broken.id, new ConflictException("worker", "x", "busy"));
            } else if (act instanceof Mend mend) {
                catalog.failing.remove((long) mend.id);
            } else if (act instanceof SourceFails) {
                source.fail(new IllegalStateException("down"));
                time.advance(Duration.ofMinutes(1));
            } else if (act instanceof Foreign other) {
                long id = FIRST_FOREIGN + other.id;
                catalog.upsert(new Worker((int) id, 1).spec());
                foreign.add(id);
            } else if (act instanceof Advance advance) {
                time.advance(Duration.ofSeconds(advance.seconds));
            }
        }
        catalog.failing.clear();
        time.advance(Duration.ofMinutes(2));

        Map<Long, WorkerSpec> expected = new HashMap<>();
        lastValid.forEach(spec -> expected.put(spec.workerId(), spec));
        Map<Long, WorkerSpec> own = new HashMap<>();
        catalog.records.forEach((id, record) -> {
            if (id < FIRST_FOREIGN) {
                own.put(id, record.spec());
            }
        });
        assertThat(own).isEqualTo(expected);
        assertThat(catalog.ids()).containsAll(foreign);
        assertThat(told).as("the observer can mirror the catalog").isEqualTo(own);
        boolean incomplete = new ArrayList<>(catalog.records.values()).stream().anyMatch(r -> !r.isSchedulable());
        assertThat(time.pending())
                .as("a timer runs only for what is not there yet")
                .isEqualTo(incomplete ? 1 : 0);
    }
}

package dev.tandemkv.selection.host;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.RankStatus;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Several ingresses that each follow their share of the workers into the same indexes. As thread-safe as they are. */
final class SpreadIngress implements KvEventIngress {

    private final List<KvEventIngress> ingresses;
    private final boolean listens;

    SpreadIngress(List<? extends KvEventIngress> ingresses) {
        this.ingresses = List.copyOf(ingresses);
        if (this.ingresses.isEmpty()) {
            throw new IllegalArgumentException("ingresses: none (expected: at least one)");
        }
        listens = this.ingresses.get(0).listens();
        if (this.ingresses.stream().anyMatch(ingress -> ingress.listens() != listens)) {
            throw new IllegalArgumentException("ingresses: some listen (expected: all or none)");
        }
    }

    private KvEventIngress of(long workerId) {
        return ingresses.get((int) Long.remainderUnsigned(SeededRandom.mix(workerId), ingresses.size()));
    }

    @Override
    public void open(PartitionKey partition, int blockSize, PrefixIndex index) {
        ingresses.forEach(ingress -> ingress.open(partition, blockSize, index));
    }

    @Override
    public boolean listens() {
        return listens;
    }

    @Override
    public List<String> missingMetadata(WorkerSpec spec) {
        return of(spec.workerId()).missingMetadata(spec);
    }

    @Override
    public void reconcile(@Nullable WorkerSpec previous, WorkerSpec spec) {
        of(spec.workerId()).reconcile(previous, spec);
    }

    @Override
    public void detach(WorkerSpec spec) {
        of(spec.workerId()).detach(spec);
    }

    @Override
    public Optional<RankStatus> status(PartitionKey partition, WorkerRank rank) {
        return of(rank.workerId()).status(partition, rank);
    }
}

package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.host.LoadSink;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the host's sink the booked load of ranks after it changed. What changed is noted inside the step; the figures are read in a step of
 * their own just before they are told, and only one thread tells at a time, so the last figure told of a rank is its present one.
 *
 * <p>{@code changed}, {@code outputs} and {@code left} belong to the step; {@code tellers} counts the rounds that are owed.
 */
final class LoadPublisher {

    private static final Logger LOG = LoggerFactory.getLogger(LoadPublisher.class);

    private final Partition partition;
    private final LoadSink sink;
    private final AtomicInteger tellers = new AtomicInteger();
    private Set<WorkerRank> changed = new LinkedHashSet<>();
    private Set<WorkerRank> outputs = new LinkedHashSet<>();
    private List<WorkerRank> left = new ArrayList<>();
    private boolean scheduled;

    private record Round(List<LoadSink.Load> changed, List<LoadSink.Load> outputs, List<WorkerRank> left) {}

    LoadPublisher(Partition partition, LoadSink sink) {
        this.partition = partition;
        this.sink = sink;
    }

    // ---- inside the step

    void changed(WorkerRank rank) {
        changed.add(rank);
        schedule();
    }

    /** Only output blocks changed, which concern this process alone. */
    void outputs(WorkerRank rank) {
        outputs.add(rank);
        schedule();
    }

    void left(WorkerRank rank) {
        left.add(rank);
        schedule();
    }

    private void schedule() {
        if (!scheduled) {
            scheduled = true;
            partition.mailbox().afterwards(this::tell);
        }
    }

    private Round take() {
        Round round = new Round(figures(changed), figures(outputs), left);
        changed = new LinkedHashSet<>();
        outputs = new LinkedHashSet<>();
        left = new ArrayList<>();
        scheduled = false;
        return round;
    }

    private List<LoadSink.Load> figures(Set<WorkerRank> ranks) {
        long now = partition.core().ticker().read();
        List<LoadSink.Load> figures = new ArrayList<>(ranks.size());
        for (WorkerRank rank : ranks) {
            int row = partition.roster().rowOf(rank);
            if (row >= 0) {
                figures.add(new LoadSink.Load(
                        rank,
                        partition.ledger().activeDecodeBlocks(row),
                        partition.ledger().activePrefillTokens(row, now)));
            }
        }
        return figures;
    }

    // ---- outside

    private void tell() {
        if (tellers.getAndIncrement() > 0) {
            return;
        }
        int owed = 1;
        while (owed > 0) {
            Round round = partition.mailbox().call(this::take);
            try {
                tell(round);
            } catch (RuntimeException | Error e) {
                LOG.warn("the load sink of {} failed", partition.key(), e);
            }
            owed = tellers.addAndGet(-owed);
        }
    }

    private void tell(Round round) {
        round.left.forEach(rank -> sink.removed(partition.key(), rank));
        if (!round.changed.isEmpty()) {
            sink.publishBatch(partition.key(), round.changed);
        }
        round.outputs.forEach(load -> sink.observeLocalLoad(partition.key(), load.rank(), load.activeDecodeBlocks()));
    }
}

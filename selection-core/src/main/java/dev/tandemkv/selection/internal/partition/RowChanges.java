package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.EndReason;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Carries a change of membership out on the rows of one partition: what leaves drops its bookings. Confined to the partition step. */
final class RowChanges {

    private final Partition partition;
    private final Roster roster;
    private final LoadView loads;
    private final @Nullable LoadPublisher publisher;

    RowChanges(Partition partition, LoadView loads, @Nullable LoadPublisher publisher) {
        this.partition = partition;
        this.loads = loads;
        this.publisher = publisher;
        roster = partition.roster();
    }

    /** Returns the ranks that left. */
    List<WorkerRank> apply(MembershipChange change, long now) {
        List<WorkerRank> left = new ArrayList<>();
        change.removals().forEach(id -> roster.rowsOf(id).forEach(row -> drop(row, now, left)));
        change.puts().forEach(spec -> put(spec, now, left));
        change.drains().forEach(id -> roster.rowsOf(id).forEach(roster::drain));
        roster.reorder();
        return left;
    }

    private void put(WorkerSpec spec, long now, List<WorkerRank> left) {
        boolean draining = false;
        for (int row : roster.rowsOf(spec.workerId())) {
            draining |= roster.draining(row);
            if (!spec.hasRank(roster.rank(row).rank())) {
                drop(row, now, left);
            }
        }
        for (int i = 0; i < spec.rankCount(); i++) {
            WorkerRank rank = new WorkerRank(spec.workerId(), spec.startRank() + i);
            int row = roster.rowOf(rank);
            if (row >= 0) {
                roster.describe(row, spec);
                partition.cache().describe(rank, spec);
            } else {
                add(rank, spec, draining);
            }
        }
    }

    private void add(WorkerRank rank, WorkerSpec spec, boolean draining) {
        int row = roster.add(rank, spec, partition.cache().slotFor(rank, spec));
        if (publisher != null && partition.ledger().activeRequests(row) > 0) {
            publisher.changed(rank);
        }
        if (draining) {
            roster.drain(row);
        }
    }

    private void drop(int row, long now, List<WorkerRank> left) {
        WorkerRank rank = roster.rank(row);
        partition.ledger().removeRow(row, now).forEach(entry -> partition.ended(entry, EndReason.WORKER_REMOVED));
        loads.forget(row);
        roster.remove(row);
        left.add(rank);
        if (publisher != null) {
            publisher.left(rank);
        }
    }
}

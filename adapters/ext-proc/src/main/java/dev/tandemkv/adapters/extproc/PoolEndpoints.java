package dev.tandemkv.adapters.extproc;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.SelectionCore;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where the workers of one pool listen, as of now. Thread-safe; every call is answered at once. */
public interface PoolEndpoints {

    /** {@code ip:port} of a worker that takes requests, or {@code null} if it is gone or has no address. */
    @Nullable
    String address(WorkerRank rank);

    /** The workers that listen at one of these addresses. */
    Set<Long> workersAt(Set<String> addresses);

    /** Every rank that takes requests, in no order. */
    List<WorkerRank> ready();

    /** The schedulable workers of one partition of a core. */
    static PoolEndpoints of(SelectionCore core, PartitionKey partition) {
        return new CoreEndpoints(core, partition);
    }
}

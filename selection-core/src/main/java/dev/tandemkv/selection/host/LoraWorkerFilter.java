package dev.tandemkv.selection.host;

import dev.tandemkv.catalog.PartitionKey;
import java.util.Set;

/** Which workers serve an adapter. It narrows and never widens: an answer that leaves nobody is ignored. Called outside the partition step. */
@FunctionalInterface
public interface LoraWorkerFilter {

    /**
     * @param partition where the request goes
     * @param loraName the adapter
     * @param universe worker ids to choose from
     * @return those that serve it; others are dropped
     */
    Set<Long> workersFor(PartitionKey partition, String loraName, Set<Long> universe);
}

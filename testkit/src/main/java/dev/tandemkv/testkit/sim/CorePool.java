package dev.tandemkv.testkit.sim;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.RankLoad;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.SelectionCoreBuilder;
import dev.tandemkv.selection.SelectionPool;
import java.util.function.UnaryOperator;

/** The production {@link SelectionCore} as a pool under simulation. */
public final class CorePool implements SimulatedPool {

    private final SelectionCore core;

    private CorePool(SelectionCore core) {
        this.core = core;
    }

    /**
     * Makes pools that are configured alike. Time, randomness and workers are the run's.
     *
     * @param settings configuration, policy and ports
     */
    public static Factory with(UnaryOperator<SelectionCoreBuilder> settings) {
        return setup -> of(setup, settings);
    }

    /** Makes one pool, for a factory that does more with it. */
    public static CorePool of(Setup setup, UnaryOperator<SelectionCoreBuilder> settings) {
        SelectionCore core = settings.apply(SelectionCore.builder())
                .role(setup.role())
                .ticker(setup.time())
                .clock(setup.time().clock())
                .scheduler(setup.time())
                .random(setup.random())
                .build();
        for (WorkerSpec worker : setup.workers()) {
            core.upsert(worker);
        }
        return new CorePool(core);
    }

    /** What the pool drives. */
    public SelectionCore core() {
        return core;
    }

    @Override
    public SelectionPool pool() {
        return core;
    }

    @Override
    public void cacheChanged(WorkerRank worker, KvEvent event) {
        core.apply(PartitionKey.DEFAULT, worker, event);
    }

    @Override
    public int openBookings() {
        return core.loads().stream()
                .map(PartitionLoads::loads)
                .flatMap(loads -> loads.stream().map(RankLoad::activeRequests))
                .mapToInt(Integer::intValue)
                .sum();
    }
}

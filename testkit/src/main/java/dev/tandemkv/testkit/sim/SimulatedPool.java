package dev.tandemkv.testkit.sim;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.selection.SelectionPool;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import java.util.List;
import java.util.random.RandomGenerator;

/** A pool under simulation, and what the simulation does to it beside routing requests. Used by one thread. */
public interface SimulatedPool {

    /** What requests are routed by. */
    SelectionPool pool();

    /** A worker's cache has changed. */
    void cacheChanged(WorkerRank worker, KvEvent event);

    /** Bookings that the pool still holds. */
    int openBookings();

    /**
     * Makes a pool for one run. Everything that varies comes with the setup, so that a run can be repeated.
     */
    @FunctionalInterface
    interface Factory {
        SimulatedPool create(Setup setup);
    }

    /**
     * What a pool is made from.
     *
     * @param role what the workers do
     * @param workers who serves, in one partition
     * @param blockTokens tokens of a block
     * @param time clock, ticker and scheduler of the run
     * @param random for ties
     */
    record Setup(Role role, List<WorkerSpec> workers, int blockTokens, VirtualTime time, RandomGenerator random) {

        public Setup {
            workers = List.copyOf(workers);
        }
    }
}

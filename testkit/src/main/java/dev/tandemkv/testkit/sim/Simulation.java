package dev.tandemkv.testkit.sim;

import java.util.Objects;

/**
 * Replays a workload against the production routing code in virtual time. Immutable; every {@link #run} is a run of its own, and gives the
 * same result to the bit. Runs on the calling thread and does not sleep.
 *
 * @param topology how many workers, and what they do
 * @param engines what the workers are
 * @param pools what routes to them
 * @param seed what ties are broken by
 */
public record Simulation(Topology topology, EngineSetup engines, SimulatedPool.Factory pools, long seed) {

    public Simulation {
        Objects.requireNonNull(topology, "topology");
        Objects.requireNonNull(engines, "engines");
        Objects.requireNonNull(pools, "pools");
    }

    /** @throws IllegalArgumentException if trace and engines do not agree on the size of a block */
    public SimulationResult run(Workload workload) {
        int traced = workload.trace().blockTokens();
        if (traced != engines.model().blockTokens()) {
            throw new IllegalArgumentException("engines.model.blockTokens: "
                    + engines.model().blockTokens() + " (expected: " + traced + ", as in the trace)");
        }
        Run run = Run.of(workload, engines, seed);
        if (topology instanceof Topology.Disaggregated disaggregated) {
            return new DisaggregatedRun(run, disaggregated, pools).execute();
        }
        return new AggregatedRun(run, ((Topology.Aggregated) topology).workers(), pools).execute();
    }
}

package dev.tandemkv.testkit.report;

import dev.tandemkv.testkit.sim.SimulationResult;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A result, and what it is the result of.
 *
 * @param topology label of the topology
 * @param policy name of the policy
 * @param order in which a pair of workers was chosen, or {@code null} where one worker does it all
 * @param result what came out
 */
public record NamedResult(
        String topology, String policy, @Nullable String order, SimulationResult result) {

    public NamedResult {
        Objects.requireNonNull(topology, "topology");
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(result, "result");
    }

    /** All of it in one line. */
    public String title() {
        return topology + ", " + policy + (order == null ? "" : ", " + order);
    }

    /** What tells it from others of its topology. */
    public String shortTitle() {
        return policy + (order == null ? "" : ", " + order);
    }
}

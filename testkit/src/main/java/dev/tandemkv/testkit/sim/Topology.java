package dev.tandemkv.testkit.sim;

import dev.tandemkv.coordinator.DisaggPolicy;
import dev.tandemkv.coordinator.PlanOrder;
import java.time.Duration;
import java.util.Objects;

/** How the workers of a fleet divide the work. */
public sealed interface Topology {

    /** What to call it in a report. */
    String label();

    /**
     * Every worker prefills and decodes.
     *
     * @param workers at least 1
     */
    record Aggregated(int workers) implements Topology {

        public Aggregated {
            requireWorkers("workers", workers);
        }

        @Override
        public String label() {
            return "aggregated-" + workers;
        }
    }

    /**
     * Some workers prefill, and send what they computed to others, which decode.
     *
     * @param prefillWorkers at least 1
     * @param decodeWorkers at least 1
     * @param order which of the two is chosen first
     * @param policy when a decode worker prefills by itself; acts in {@link PlanOrder#DECODE_ANCHORED} only
     * @param transfer how long sending takes
     */
    record Disaggregated(int prefillWorkers, int decodeWorkers, PlanOrder order, DisaggPolicy policy, Transfer transfer)
            implements Topology {

        public Disaggregated {
            requireWorkers("prefillWorkers", prefillWorkers);
            requireWorkers("decodeWorkers", decodeWorkers);
            Objects.requireNonNull(order, "order");
            Objects.requireNonNull(policy, "policy");
            Objects.requireNonNull(transfer, "transfer");
        }

        /** Always disaggregated, over {@link Transfer#INFINIBAND}. */
        public Disaggregated(int prefillWorkers, int decodeWorkers, PlanOrder order) {
            this(prefillWorkers, decodeWorkers, order, DisaggPolicy.disabled(), Transfer.INFINIBAND);
        }

        public Disaggregated with(DisaggPolicy newPolicy) {
            return new Disaggregated(prefillWorkers, decodeWorkers, order, newPolicy, transfer);
        }

        @Override
        public String label() {
            return "disaggregated-" + prefillWorkers + "p" + decodeWorkers + "d";
        }
    }

    /**
     * The way from a prefill to a decode worker, which carries what the decode worker does not have.
     *
     * @param setup of each transfer
     * @param nanosPerToken KV bytes of a token divided by the bandwidth
     */
    record Transfer(Duration setup, long nanosPerToken) {

        /** NDR InfiniBand at 40 GB/s and 320 KiB a token, with RDMA set-up. */
        public static final Transfer INFINIBAND = new Transfer(Duration.ofMillis(2), 8_000);

        /** @throws IllegalArgumentException naming what is negative */
        public Transfer {
            if (setup.isNegative() || nanosPerToken < 0) {
                throw new IllegalArgumentException(
                        "transfer: " + setup + ", " + nanosPerToken + " ns/token (expected: >= 0)");
            }
        }

        long nanos(int tokens) {
            return setup.toNanos() + nanosPerToken * tokens;
        }
    }

    private static void requireWorkers(String field, int workers) {
        if (workers < 1) {
            throw new IllegalArgumentException(field + ": " + workers + " (expected: >= 1)");
        }
    }
}

package dev.tandemkv.testkit.sim;

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

    private static void requireWorkers(String field, int workers) {
        if (workers < 1) {
            throw new IllegalArgumentException(field + ": " + workers + " (expected: >= 1)");
        }
    }
}

package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.Experimental;
import dev.tandemkv.catalog.WorkerRecord;

/** What moving a prompt's KV between two workers costs, for {@link PlanOrder#JOINT}. Thread-safe, does not block, never negative. */
@Experimental
@FunctionalInterface
public interface TransferCost {

    /**
     * @param prefill the worker that computes the KV
     * @param decode the worker that needs it
     * @param promptTokens prompt length
     * @return cost in blocks, on the scale of the pools' own costs
     */
    double blocks(WorkerRecord prefill, WorkerRecord decode, long promptTokens);

    /** Moving is free. The default. */
    static TransferCost none() {
        return (prefill, decode, promptTokens) -> 0;
    }
}

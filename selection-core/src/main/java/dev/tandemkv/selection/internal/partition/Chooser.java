package dev.tandemkv.selection.internal.partition;

import java.util.random.RandomGenerator;

/** Picks one of the candidates. Confined to the partition step. */
interface Chooser {

    /**
     * @param candidates at least one
     * @return its position
     * @throws dev.tandemkv.selection.PolicyFaultException if a component misbehaved
     * @throws dev.tandemkv.selection.NoEligibleWorkerException if its filters left nobody
     */
    int choose(Attempt attempt, Candidates candidates, RandomGenerator random);
}

package dev.tandemkv.selection.explain;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.ExclusionReason;
import dev.tandemkv.selection.policy.CostTerms;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How one decision was made. Made on request only; immutable. Lists hold at most the configured number of entries, the cheapest
 * candidates and always the chosen one, in unsigned order of worker id and rank.
 *
 * @param policy name of the policy that decided
 * @param chosen the rank it took
 * @param tied how many candidates had exactly the lowest cost; among more than one a draw decided
 * @param candidates the ranks among which it chose
 * @param excluded the ranks that were no candidates, each with the first reason that applied
 * @param omittedCandidates candidates beyond the limit
 * @param omittedExclusions excluded ranks beyond the limit
 */
public record Explanation(
        String policy,
        WorkerRank chosen,
        int tied,
        List<Candidate> candidates,
        List<Exclusion> excluded,
        int omittedCandidates,
        int omittedExclusions) {

    public Explanation {
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(chosen, "chosen");
        candidates = List.copyOf(candidates);
        excluded = List.copyOf(excluded);
    }

    /** The entry of a rank, if it was a candidate within the limit. */
    public Optional<Candidate> candidate(WorkerRank worker) {
        return candidates.stream().filter(each -> each.worker().equals(worker)).findFirst();
    }

    /**
     * One rank that could have been chosen.
     *
     * @param worker the rank
     * @param cost what it would cost; lower is better
     * @param deviceBlocks leading blocks of the prompt on its device
     * @param hostBlocks blocks in host memory that continue them
     * @param diskBlocks blocks on disk that continue those
     * @param contributions what each scorer made of it, in the order in which they are added
     */
    public record Candidate(
            WorkerRank worker,
            double cost,
            int deviceBlocks,
            int hostBlocks,
            int diskBlocks,
            List<Contribution> contributions) {

        public Candidate {
            contributions = List.copyOf(contributions);
        }

        /** The cost computed from the terms again: the same number, bit for bit. */
        public double recomputedCost() {
            if (contributions.size() == 1) {
                return contributions.get(0).terms().cost();
            }
            double sum = 0;
            for (Contribution contribution : contributions) {
                sum += contribution.terms().cost();
            }
            return sum;
        }
    }

    /**
     * One scorer's part of a cost.
     *
     * @param scorer its name
     * @param terms what it was made of
     */
    public record Contribution(String scorer, CostTerms terms) {}

    /**
     * One rank that could not be chosen.
     *
     * @param worker the rank
     * @param reason the first check that failed
     * @param filter the filter that rejected it, or {@code null} for another reason
     */
    public record Exclusion(
            WorkerRank worker,
            ExclusionReason reason,
            @Nullable String filter) {}
}

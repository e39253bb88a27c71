package dev.tandemkv.selection.internal.choice;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.selection.PolicyFaultException;
import dev.tandemkv.selection.PolicyFaultException.Fault;
import dev.tandemkv.selection.explain.Explanation.Contribution;
import dev.tandemkv.selection.policy.Candidates;
import dev.tandemkv.selection.policy.CostTerms;
import dev.tandemkv.selection.policy.PolicyComponent;
import dev.tandemkv.selection.policy.PolicyComponents;
import dev.tandemkv.selection.policy.PolicyComponents.AffinityUse;
import dev.tandemkv.selection.policy.PolicyContext;
import dev.tandemkv.selection.policy.PolicyInput;
import dev.tandemkv.selection.policy.WorkerFilter;
import dev.tandemkv.selection.policy.WorkerPicker;
import dev.tandemkv.selection.policy.WorkerScorer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Runs the policy of one partition over its candidate table: affinity target, filters, scorers, picker. Whatever a component does wrong
 * becomes a {@link PolicyFaultException}; the table may then have fewer rows, and nothing else has changed.
 *
 * <p>Usage for a decision: fill {@link #table}, {@link #narrow}, {@link #score}, {@link #pick}. Single-threaded, as the partition step.
 */
public final class ChoicePipeline {

    /** Hears of the rows that a filter rejects, while they are still in the table. */
    @FunctionalInterface
    public interface Rejections {
        Rejections IGNORED = (row, filter) -> {};

        void rejected(int row, String filter);
    }

    private record Seen<C extends PolicyComponent>(C component, Candidates view) {}

    /** A scorer and what it said last. */
    private static final class Scoring {
        private final WorkerScorer scorer;
        private final Candidates view;
        private double[] costs = new double[16];

        Scoring(Seen<WorkerScorer> seen) {
            scorer = seen.component;
            view = seen.view;
        }
    }

    private final CandidateTable table;
    private final List<Seen<WorkerFilter>> filters = new ArrayList<>();
    private final List<Scoring> scorers = new ArrayList<>();
    private final Seen<WorkerPicker> picker;
    private final AffinityUse affinity;
    private final Set<PolicyInput> inputs = EnumSet.noneOf(PolicyInput.class);

    /** The sums of the running decision; a lone scorer's own array. */
    private double[] costs = new double[0];
    /** What the check of those found on its way: the last check of a decision is that of its sums. */
    private final LowestCost lowest = new LowestCost();

    public ChoicePipeline(PolicyComponents components, CandidateTable table) {
        this.table = table;
        for (WorkerFilter filter : components.filters()) {
            filters.add(seen(filter));
        }
        for (WorkerScorer scorer : components.scorers()) {
            scorers.add(new Scoring(seen(scorer)));
        }
        picker = seen(components.picker());
        affinity = components.affinity();
    }

    private <C extends PolicyComponent> Seen<C> seen(C component) {
        Set<PolicyInput> declared = component.inputs();
        inputs.addAll(declared);
        return new Seen<>(component, new TableView(table, declared));
    }

    /** The columns that the table needs: what any component declared. */
    public Set<PolicyInput> inputs() {
        return Collections.unmodifiableSet(inputs);
    }

    public CandidateTable table() {
        return table;
    }

    // ---- the steps

    /**
     * Leaves the affinity target's rows, if the policy takes an eligible target as exclusive, and then what the filters keep.
     *
     * @return rows left; 0 if the filters rejected all
     */
    public int narrow(PolicyContext context, Rejections rejections) {
        AffinityTarget target = context.request().affinityTarget();
        if (target != null && affinity == AffinityUse.EXCLUSIVE) {
            narrowTo(target);
        }
        for (Seen<WorkerFilter> filter : filters) {
            table.keep(row -> kept(filter, context, row, rejections));
        }
        return table.size();
    }

    private void narrowTo(AffinityTarget target) {
        for (int row = 0; row < table.size(); row++) {
            if (matches(target, row)) {
                table.keep(candidate -> matches(target, candidate));
                table.setDirected();
                return;
            }
        }
    }

    private boolean matches(AffinityTarget target, int row) {
        Integer rank = target.dpRank();
        return target.workerId() == table.workerId(row) && (rank == null || rank == table.rank(row));
    }

    private static boolean kept(Seen<WorkerFilter> filter, PolicyContext context, int row, Rejections rejections) {
        boolean kept;
        try {
            kept = filter.component.keep(context, filter.view, row);
        } catch (RuntimeException | Error e) {
            throw threw(filter.component, row, e);
        }
        if (!kept) {
            rejections.rejected(row, filter.component.name());
        }
        return kept;
    }

    /**
     * Adds up the costs of all scorers.
     *
     * @return the cost of each row, valid until the next call
     * @throws PolicyFaultException if a scorer throws or a cost or sum is not finite
     */
    public double[] score(PolicyContext context) {
        int size = table.size();
        for (Scoring scoring : scorers) {
            if (scoring.costs.length < size) {
                scoring.costs = new double[Math.max(size, scoring.costs.length * 2)];
            }
            scoreWith(scoring, context);
            requireFinite(scoring.scorer, scoring.costs, size);
        }
        costs = scorers.size() == 1 ? scorers.get(0).costs : sum(size);
        return costs;
    }

    private static void scoreWith(Scoring scoring, PolicyContext context) {
        try {
            scoring.scorer.score(context, scoring.view, scoring.costs);
        } catch (RuntimeException | Error e) {
            throw threw(scoring.scorer, -1, e);
        }
    }

    private double[] sum(int size) {
        double[] sums = costs.length < size ? new double[size * 2] : costs;
        Arrays.fill(sums, 0, size, 0);
        for (Scoring scoring : scorers) {
            for (int row = 0; row < size; row++) {
                sums[row] += scoring.costs[row];
            }
            requireFinite(scoring.scorer, sums, size);
        }
        return sums;
    }

    private void requireFinite(WorkerScorer scorer, double[] of, int size) {
        lowest.find(of, size);
        if (lowest.notFinite() >= 0) {
            throw new PolicyFaultException(Fault.NON_FINITE_COST, scorer.name(), lowest.notFinite(), null);
        }
    }

    /** The lowest cost of the running decision; of use only where a scorer has any. */
    public double lowestCost() {
        return lowest.cost();
    }

    /**
     * Takes one row; the table has at least one.
     *
     * @throws PolicyFaultException if the picker throws or answers no row of the table
     */
    public int pick(PolicyContext context, RandomGenerator random) {
        int row;
        try {
            // The built-in picker need not look for what the check of the costs has found.
            row = picker.component instanceof CostPicker own && !scorers.isEmpty()
                    ? own.pick(context, table.size(), costs, lowest, random)
                    : picker.component.pick(context, picker.view, costs, random);
        } catch (RuntimeException | Error e) {
            throw threw(picker.component, -1, e);
        }
        if (row < 0 || row >= table.size()) {
            throw new PolicyFaultException(Fault.INVALID_PICKER_ROW, picker.component.name(), row, null);
        }
        return row;
    }

    /** What each scorer made of a row, in order; after {@link #score}, with the table as it was then. */
    public List<Contribution> explain(PolicyContext context, int row) {
        List<Contribution> contributions = new ArrayList<>(scorers.size());
        for (Scoring scoring : scorers) {
            try {
                CostTerms terms = scoring.scorer.explain(context, scoring.view, row, scoring.costs[row]);
                contributions.add(new Contribution(scoring.scorer.name(), terms));
            } catch (RuntimeException | Error e) {
                throw threw(scoring.scorer, row, e);
            }
        }
        return contributions;
    }

    private static PolicyFaultException threw(PolicyComponent component, int row, Throwable cause) {
        return new PolicyFaultException(Fault.THREW, component.name(), row, cause);
    }
}

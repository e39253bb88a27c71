package dev.tandemkv.selection.internal.choice;

import static dev.tandemkv.selection.internal.choice.Decision.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.PolicyFaultException;
import dev.tandemkv.selection.PolicyFaultException.Fault;
import dev.tandemkv.selection.policy.Candidates;
import dev.tandemkv.selection.policy.PolicyComponents;
import dev.tandemkv.selection.policy.PolicyComponents.AffinityUse;
import dev.tandemkv.selection.policy.PolicyContext;
import dev.tandemkv.selection.policy.PolicyInput;
import dev.tandemkv.selection.policy.SelectionPolicy;
import dev.tandemkv.selection.policy.WorkerFilter;
import dev.tandemkv.selection.policy.WorkerPicker;
import dev.tandemkv.selection.policy.WorkerScorer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class ChoicePipelineTest {

    private static Decision with(List<WorkerFilter> filters, List<WorkerScorer> scorers, WorkerPicker picker) {
        PolicyComponents components = new PolicyComponents(filters, scorers, picker, AffinityUse.ADVICE);
        return Decision.of(SelectionPolicy.of("test", scope -> components), 512)
                .among(worker(1), worker(2), worker(3), worker(4));
    }

    private static WorkerScorer costs(String name, double... byRow) {
        return new WorkerScorer() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public void score(PolicyContext context, Candidates candidates, double[] costs) {
                System.arraycopy(byRow, 0, costs, 0, candidates.size());
            }
        };
    }

    @Test
    void filters_allMustKeep_andScorersAddUp() {
        WorkerFilter notFirst = (context, candidates, row) -> candidates.workerId(row) != 1;
        WorkerFilter notLast = (context, candidates, row) -> candidates.workerId(row) != 4;
        Decision decision = with(
                List.of(notFirst, notLast), List.of(costs("a", 5, 1), costs("b", 1, 4)), SelectionPolicy.cheapest());
        assertThat(decision.costs()).containsExactly(6, 5);
        assertThat(decision.chosen()).isEqualTo(WorkerRank.of(3));
    }

    @Test
    void filters_keepTheColumnsOfTheRowsThatStay() {
        WorkerFilter even = (context, candidates, row) -> candidates.workerId(row) % 2 == 0;
        PolicyComponents components = new PolicyComponents(
                List.of(even), List.of(QueueCost.LMETRIC), SelectionPolicy.cheapest(), AffinityUse.ADVICE);
        Decision decision = Decision.of(SelectionPolicy.of("test", scope -> components), 512)
                .among(
                        worker(1).cached(9, 9, 9),
                        worker(2).cached(16, 0, 0).load(7, 1).requests(1),
                        worker(3));
        assertThat(decision.costs()).containsExactly((7 + 256) * 2);
        decision.among(worker(2), worker(4), worker(6));
        assertThat(decision.costs()).containsExactly(512, 512, 512);
    }

    @Test
    void narrow_everyRowRejected_leavesNoneAndNamesTheFilter() {
        Decision decision =
                with(List.of((context, candidates, row) -> false), List.of(), (context, rows, costs, random) -> 0);
        List<Integer> rejected = new ArrayList<>();
        int left = decision.fill().narrow(decision.context(), (row, filter) -> rejected.add(row));
        assertThat(left).isZero();
        assertThat(rejected).containsExactly(0, 1, 2, 3);
    }

    @Test
    void scenario23_undeclaredInput_isNull() {
        List<Object> seen = new ArrayList<>();
        WorkerPicker nosy = (context, candidates, costs, random) -> {
            seen.add(candidates.cache());
            seen.add(candidates.load());
            seen.add(candidates.preferredTaints());
            seen.add(candidates.requests());
            return 0;
        };
        with(List.of(), List.of(QueueCost.LMETRIC), nosy).chosen();
        assertThat(seen).containsExactly(null, null, null, null);
    }

    @Test
    void inputs_areTheUnionOfWhatComponentsDeclare() {
        Decision decision = with(List.of(), List.of(QueueCost.ACTIVE_REQUESTS), new PreferencePicker());
        assertThat(decision.fill().inputs())
                .isEqualTo(Set.of(PolicyInput.ACTIVE_REQUEST_LOAD, PolicyInput.PREFERRED_TAINT));
    }

    private static final class PreferencePicker implements WorkerPicker {
        @Override
        public Set<PolicyInput> inputs() {
            return Set.of(PolicyInput.PREFERRED_TAINT);
        }

        @Override
        public int pick(PolicyContext context, Candidates candidates, double[] costs, RandomGenerator random) {
            return 0;
        }
    }

    private static PolicyFaultException faultOf(Decision decision) {
        return catchThrowableOfType(PolicyFaultException.class, decision::chosen);
    }

    @Test
    void score_costNotFinite_namesScorerAndRow() {
        for (double bad : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            PolicyFaultException fault =
                    faultOf(with(List.of(), List.of(costs("bad", 1, 2, bad, 3)), SelectionPolicy.cheapest()));
            assertThat(fault.fault()).isEqualTo(Fault.NON_FINITE_COST);
            assertThat(fault.component()).isEqualTo("bad");
            assertThat(fault.row()).isEqualTo(2);
        }
    }

    @Test
    void score_sumNotFinite_isAFault() {
        double max = Double.MAX_VALUE;
        PolicyFaultException fault = faultOf(with(
                List.of(), List.of(costs("a", 0, max, 0, 0), costs("b", 0, max, 0, 0)), SelectionPolicy.cheapest()));
        assertThat(fault.fault()).isEqualTo(Fault.NON_FINITE_COST);
        assertThat(fault.row()).isEqualTo(1);
    }

    @Test
    void pick_rowOutOfRange_isAFault() {
        for (int row : new int[] {-1, 4, 99}) {
            PolicyFaultException fault =
                    faultOf(with(List.of(), List.of(), (context, candidates, costs, random) -> row));
            assertThat(fault.fault()).isEqualTo(Fault.INVALID_PICKER_ROW);
            assertThat(fault.row()).isEqualTo(row);
        }
    }

    @Test
    void component_throws_isAFaultWithItsCause() {
        IllegalStateException cause = new IllegalStateException("broken");
        List<Decision> broken = List.of(
                with(
                        List.of((context, candidates, row) -> {
                            throw cause;
                        }),
                        List.of(),
                        SelectionPolicy.cheapest()),
                with(
                        List.of(),
                        List.of((context, candidates, costs) -> {
                            throw cause;
                        }),
                        SelectionPolicy.cheapest()),
                with(List.of(), List.of(), (context, candidates, costs, random) -> {
                    throw cause;
                }));
        for (Decision decision : broken) {
            assertThatThrownBy(decision::chosen)
                    .isInstanceOf(PolicyFaultException.class)
                    .hasCause(cause);
        }
    }

    @Test
    void affinityTarget_ofACustomPolicy_isAdvice() {
        Decision decision = with(List.of(), List.of(costs("a", 1, 2, 3, 4)), SelectionPolicy.cheapest())
                .affinity(AffinityTarget.ofWorker(3));
        assertThat(decision.chosen()).isEqualTo(WorkerRank.of(1));
    }

    @Test
    void score_afterADecisionWithMoreRows_seesNothingOfIt() {
        Decision decision = Decision.of(SelectionPolicy.kvAware(), 512)
                .among(worker(1).cached(9, 9, 9).shared(9).taint(3), worker(2).cached(9, 9, 9));
        decision.costs();
        assertThat(decision.among(worker(1)).costs()).containsExactly(32);
        assertThat(decision.random(new SeededRandom(2)).chosen()).isEqualTo(WorkerRank.of(1));
    }
}

package dev.tandemkv.testkit.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.coordinator.PlanOrder;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** s74: whatever is called in whatever order, and whatever the pools do, the invariants I1 to I9 hold. */
class PlanInvariantsPropertyTest {

    @Property(tries = 400)
    void s74_randomOperationsOverFaultyPools_invariantsHold(
            @ForAll PlanOrder order,
            @ForAll("share") double faultShare,
            @ForAll long seed,
            @ForAll("operations") List<PlanDriver.Step> steps) {
        PlanDriver driver = new PlanDriver(order, faultShare, seed);
        for (PlanDriver.Step step : steps) {
            driver.run(step);
            driver.checkInvariants();
        }
        driver.endEverything();
        assertThat(driver.problems()).isEmpty();
    }

    @Provide
    Arbitrary<Double> share() {
        return Arbitraries.of(0.0, 0.02, 0.05, 0.1, 0.13);
    }

    @Provide
    Arbitrary<List<PlanDriver.Step>> operations() {
        Arbitrary<PlanDriver.Operation> operation = Arbitraries.of(PlanDriver.Operation.class);
        Arbitrary<Integer> argument = Arbitraries.integers().between(0, 7);
        return Combinators.combine(operation, argument)
                .as(PlanDriver.Step::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(40);
    }
}

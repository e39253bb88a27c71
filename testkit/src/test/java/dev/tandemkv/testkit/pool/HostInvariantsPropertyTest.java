package dev.tandemkv.testkit.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.affinity.AffinityMode;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * Whatever clients, workers, transport and pool do in whatever order: nothing stays booked or held, every booking is freed once, prefill
 * is marked at most once, every client that waits is told its one end, and no worker is left running.
 */
class HostInvariantsPropertyTest {

    @Property(tries = 600)
    void randomRequestsOverAFaultyPool_nothingIsLeftAndEveryClientIsTold(
            @ForAll AffinityMode mode,
            @ForAll("share") double faultShare,
            @ForAll long seed,
            @ForAll("operations") List<HostDriver.Step> steps) {
        HostDriver driver = new HostDriver(mode, faultShare, seed);
        for (HostDriver.Step step : steps) {
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
    Arbitrary<List<HostDriver.Step>> operations() {
        Arbitrary<HostDriver.Operation> often =
                Arbitraries.of(HostDriver.Operation.ROUTE, HostDriver.Operation.EMIT, HostDriver.Operation.ADVANCE);
        Arbitrary<HostDriver.Operation> any = Arbitraries.of(HostDriver.Operation.class);
        Arbitrary<Integer> argument = Arbitraries.integers().between(0, 7);
        return Combinators.combine(Arbitraries.oneOf(List.of(often, any, any)), argument)
                .as(HostDriver.Step::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(60);
    }
}

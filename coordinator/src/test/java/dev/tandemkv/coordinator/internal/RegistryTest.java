package dev.tandemkv.coordinator.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.BusyThresholds;
import dev.tandemkv.coordinator.CoordinatorObserver;
import dev.tandemkv.coordinator.DecodeFailurePolicy;
import dev.tandemkv.coordinator.DisaggPolicy;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.FreeRetry;
import dev.tandemkv.coordinator.LinkedBookingState;
import dev.tandemkv.coordinator.MemoryPool;
import dev.tandemkv.coordinator.PairCheck;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.PrefillAbort;
import dev.tandemkv.coordinator.PrefillFailurePolicy;
import dev.tandemkv.coordinator.TransferCost;
import dev.tandemkv.selection.Prompt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A plan that nobody can close any more. */
class RegistryTest implements CoordinatorObserver {

    private final VirtualTime time = new VirtualTime();
    private final MemoryPool prefill = new MemoryPool().worker(1);
    private final MemoryPool decode = new MemoryPool().worker(11);
    private final List<String> forgotten = new ArrayList<>();

    private Settings settings() {
        return new Settings(
                prefill,
                decode,
                PlanOrder.PREFILL_ANCHORED,
                DisaggPolicy.disabled(),
                BusyThresholds.NONE,
                PrefillFailurePolicy.FREE_DECODE,
                DecodeFailurePolicy.FREE_PREFILL,
                2,
                2,
                Duration.ofSeconds(5),
                Duration.ofSeconds(5),
                FreeRetry.DEFAULT,
                Duration.ofMinutes(5),
                10,
                PairCheck.ANCHOR_ONLY,
                TransferCost.none(),
                new SeededRandom(1),
                PrefillAbort.none(),
                this,
                time,
                time);
    }

    @Test
    void handleLost_reportedThenReleasedWhenTheLeaseHasPassed() {
        Settings settings = settings();
        Registry registry = new Registry(settings);
        DisaggRequest request =
                DisaggRequest.builder("r", Prompt.ofTokens(new int[16])).build();
        PlanRun run = registry.open(request);
        new PrefillAnchored(settings, new Anchoring(settings))
                .plan(run, request)
                .join();
        run.endPlanning();
        time.advance(Duration.ofSeconds(10));
        registry.handleLost(run);
        assertThat(forgotten).containsExactly("r after 10000000000");
        time.advance(Duration.ofSeconds(299));
        assertThat(decode.touches).as("nothing is renewed for nobody").isEmpty();
        assertThat(prefill.live() + decode.live()).isEqualTo(2);
        time.advance(Duration.ofSeconds(2));
        assertThat(prefill.live() + decode.live()).isZero();
        assertThat(run.state()).isEqualTo(LinkedBookingState.RELEASED);
        assertThat(registry.openPlans()).isEmpty();
    }

    @Test
    void handleLostAfterTheEnd_isNoLeak() {
        Settings settings = settings();
        Registry registry = new Registry(settings);
        DisaggRequest request =
                DisaggRequest.builder("r", Prompt.ofTokens(new int[16])).build();
        PlanRun run = registry.open(request);
        new PrefillAnchored(settings, new Anchoring(settings))
                .plan(run, request)
                .join();
        run.end(Ending.RELEASE, null).join();
        registry.handleLost(run);
        assertThat(forgotten).isEmpty();
    }

    @Test
    void planOver_isNotKeptUntilTheNextSweep() {
        Settings settings = settings();
        Registry registry = new Registry(settings);
        DisaggRequest request =
                DisaggRequest.builder("r", Prompt.ofTokens(new int[16])).build();
        PlanRun run = registry.open(request);
        registry.handOut(run);
        assertThat(registry.watchedHandles()).isEqualTo(1);
        run.end(Ending.RELEASE, null).join();
        assertThat(registry.watchedHandles()).isZero();
        registry.handOut(run);
        assertThat(registry.watchedHandles()).isZero();
    }

    @Override
    public void onPlanForgotten(String planId, long ageNanos) {
        forgotten.add(planId + " after " + ageNanos);
    }
}

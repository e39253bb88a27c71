package dev.tandemkv.selection.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.selection.config.WorkerSelection;
import dev.tandemkv.selection.config.WorkerSelection.Instance;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PolicyRegistryTest {

    private final PolicyRegistry registry = PolicyRegistry.standard();

    private SelectionPolicy create(String type, Map<String, Object> parameters) {
        return registry.create(new Instance("mine", type, parameters));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "kv-aware",
                "dynamo-default-cost-fn",
                "lmetric",
                "least-loaded",
                "fewest-requests",
                "least-queued-tokens",
                "round-robin",
                "power-of-two"
            })
    void create_shippedType_needsNoParameters(String type) {
        assertThat(create(type, Map.of()).name()).isEqualTo(type);
    }

    @Test
    void create_sticky_calibratesOrTakesTheTokens() {
        assertThat(create("sticky-until-saturated", Map.of("saturation_tokens", 1000)))
                .isNotNull();
        assertThat(create("sticky-until-saturated", Map.of("peak_prefill_tokens_per_second", 20480.0)))
                .isNotNull();
        assertThatThrownBy(() -> create("sticky-until-saturated", Map.of()))
                .hasMessageContaining(
                        "worker_selection.instances.mine.parameters.peak_prefill_tokens_per_second: absent");
    }

    @Test
    void create_unknownType_isRefusedWithTheKnownOnes() {
        assertThatThrownBy(() -> create("fastest", Map.of()))
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("worker_selection.instances.mine.type: fastest")
                .hasMessageContaining("lmetric");
    }

    @Test
    void create_unknownParameter_isRefused() {
        assertThatThrownBy(() -> create("lmetric", Map.of("overlap_score_credit", 1)))
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("worker_selection.instances.mine.parameters.overlap_score_credit");
    }

    @Test
    void kO3_create_badValue_isRefusedWithItsPath() {
        for (Object bad : new Object[] {Double.NaN, Double.POSITIVE_INFINITY, -1, "much", true}) {
            assertThatThrownBy(() -> create("dynamo-default-cost-fn", Map.of("prefill_load_scale", bad)))
                    .isInstanceOf(BadRequestException.class)
                    .hasMessageContaining("worker_selection.instances.mine.parameters.prefill_load_scale: " + bad);
        }
    }

    @Test
    void with_sameTypeTwice_isRefused() {
        assertThatThrownBy(() -> registry.with("lmetric", parameters -> SelectionPolicy.lmetric()))
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("lmetric");
    }

    @Test
    void policyOf_roleWithoutInstance_isTheBuiltInCost() {
        WorkerSelection selection =
                new WorkerSelection(Map.of(Role.DECODE, "rr"), List.of(new Instance("rr", "round-robin", Map.of())));
        assertThat(registry.policyOf(selection, Role.DECODE).name()).isEqualTo("round-robin");
        assertThat(registry.policyOf(selection, Role.PREFILL).name()).isEqualTo("kv-aware");
    }

    @Test
    void with_ownProvider_getsItsParameters() {
        PolicyRegistry own = registry.with("mine", parameters -> {
            String mode = parameters.text("mode", "fast");
            return SelectionPolicy.of(mode, scope -> PolicyComponents.picking((c, rows, costs, random) -> 0));
        });
        assertThat(own.create(new Instance("x", "mine", Map.of("mode", "slow"))).name())
                .isEqualTo("slow");
        assertThatThrownBy(() -> own.create(new Instance("x", "mine", Map.of("mode", 3))))
                .hasMessageContaining("mode: 3 (expected: a text)");
    }
}

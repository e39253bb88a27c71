package dev.tandemkv.benchmarks.soak;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The soak at a small size. */
class SoakTest {

    @Test
    void twentyThousandRequestsUnderFaults_nothingIsLeftBehind() {
        SoakResult result = new Soak(11).run(20_000);
        assertThat(result.heldBookings()).isZero();
        assertThat(result.pendingFrees()).isZero();
        assertThat(result.openPlans()).isZero();
        assertThat(result.outcomes())
                .containsKeys(
                        "LINKED", "BYPASS", "BYPASS_AFTER_PREFILL_FAILURE", "PREFILL_RELEASED", "FAILED_CANCELLED");
        assertThat(result.outcomes().values().stream()
                        .mapToLong(Long::longValue)
                        .sum())
                .as("every request ended in exactly one way")
                .isEqualTo(20_000);
        assertThat(result.faults().keySet())
                .containsExactlyInAnyOrder(
                        "ERROR",
                        "REFUSAL",
                        "DELAY",
                        "LOST_REPLY",
                        "NO_ANSWER",
                        "DUPLICATE",
                        "LATE_SUCCESS",
                        "CANCELLATION");
    }

    @Test
    void sameSeed_sameRun() {
        assertThat(new Soak(5).run(2_000)).isEqualTo(new Soak(5).run(2_000));
    }
}

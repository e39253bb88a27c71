package dev.tandemkv.affinity;

import static dev.tandemkv.affinity.Tables.target;
import static dev.tandemkv.affinity.Tables.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerRank;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The agreement tables, the version order, the configuration and the forms of a session id. */
class AffinityTargetTest {

    @Test
    void admitsRequest_isTheTableOfExplicitTargets() {
        assertThat(target(1, 2).admitsRequest(null)).isTrue();
        assertThat(target(1, 2).admitsRequest(worker(2))).isFalse();
        assertThat(target(1, 2).admitsRequest(target(1, 3))).isFalse();
        assertThat(target(1, 2).admitsRequest(target(1, 2))).isTrue();
        assertThat(target(1, 2).admitsRequest(worker(1))).isTrue();
        assertThat(worker(1).admitsRequest(target(1, 0))).isFalse();
        assertThat(worker(1).admitsRequest(worker(1))).isTrue();
        assertThat(worker(1).admitsRequest(null)).isTrue();
        assertThat(target(1, 0).admitsRequest(target(1, 0)))
                .as("rank 0 is a rank")
                .isTrue();
        assertThat(target(1, 1000).admitsRequest(target(1, 1000))).isTrue();
    }

    @Test
    void admitsDispatch_isTheTableOfDispatchedTargets() {
        assertThat(target(1, 2).admitsDispatch(target(2, 2))).isFalse();
        assertThat(worker(1).admitsDispatch(target(1, 2))).isTrue();
        assertThat(worker(1).admitsDispatch(worker(1))).isTrue();
        assertThat(target(1, 2).admitsDispatch(target(1, 2))).isTrue();
        assertThat(target(1, 2).admitsDispatch(target(1, 3))).isFalse();
        assertThat(target(1, 2).admitsDispatch(worker(1))).isFalse();
    }

    @Test
    void reboundTo_neitherNarrowsNorWidens() {
        assertThat(worker(1).reboundTo(target(2, 3))).isEqualTo(worker(2));
        assertThat(worker(1).reboundTo(worker(2))).isEqualTo(worker(2));
        assertThat(target(1, 2).reboundTo(target(2, 3))).isEqualTo(target(2, 3));
        assertThat(target(1, 2).reboundTo(worker(2))).isEqualTo(target(1, 2));
    }

    @Test
    void target_prints_unsigned() {
        assertThat(target(-1, -1)).hasToString("18446744073709551615/4294967295");
        assertThat(worker(-1)).hasToString("18446744073709551615");
        assertThat(AffinityTarget.of(new WorkerRank(5, 0)))
                .isEqualTo(target(5, 0))
                .isNotEqualTo(worker(5));
    }

    @Test
    void version_compare_isUnsignedAndLexicographic() {
        AffinityVersion below = new AffinityVersion(Long.MAX_VALUE, 9);
        AffinityVersion above = new AffinityVersion(Long.MIN_VALUE, 1);
        assertThat(above.isNewerThan(below)).isTrue();
        assertThat(below.isNewerThan(above)).isFalse();
        assertThat(new AffinityVersion(1, -1).isNewerThan(new AffinityVersion(1, 1)))
                .isTrue();
        assertThat(below.isNewerThan(below)).isFalse();
        assertThat(above).hasToString("9223372036854775808@1");
    }

    @Test
    void config_outOfRange_isRefusedNamingTheField() {
        refused("ttl", () -> AffinityConfig.builder(Duration.ofMillis(999)).build());
        refused(
                "ttl",
                () -> AffinityConfig.builder(Duration.ofDays(365).plusNanos(1)).build());
        refused("max_entries", () -> builder().maxEntries(0).build());
        refused("max_session_id_bytes", () -> builder().maxSessionIdBytes(0).build());
        refused(
                "max_waiters_per_session",
                () -> builder().maxWaitersPerSession(0).build());
        refused(
                "max_initializing",
                () -> builder().maxInitializing(Duration.ZERO).build());
        refused("max_lease_age", () -> builder().maxLeaseAge(Duration.ZERO).build());
        refused(
                "tombstone_retention",
                () -> builder().tombstoneRetention(Duration.ofDays(366)).build());
        refused(
                "max_clock_skew",
                () -> builder().maxClockSkew(Duration.ofNanos(-1)).build());
        for (double seconds : new double[] {Double.NaN, Double.POSITIVE_INFINITY, -1, 0.999, 31_536_000.1}) {
            refused("ttl", () -> AffinityConfig.ttlOfSeconds(seconds));
        }
    }

    private static AffinityConfig.Builder builder() {
        return AffinityConfig.builder(Duration.ofSeconds(10));
    }

    private static void refused(String field, org.assertj.core.api.ThrowableAssert.ThrowingCallable made) {
        assertThatThrownBy(made)
                .isInstanceOfSatisfying(
                        BadRequestException.class, e -> assertThat(e.field()).isEqualTo(field));
    }

    @Test
    void config_limitsOfTheTtl_areAccepted() {
        assertThat(AffinityConfig.builder(AffinityConfig.ttlOfSeconds(1))
                        .build()
                        .reaperPeriod())
                .isEqualTo(Duration.ofSeconds(1));
        AffinityConfig longest =
                AffinityConfig.builder(AffinityConfig.ttlOfSeconds(31_536_000)).build();
        assertThat(longest.reaperPeriod()).isEqualTo(Duration.ofSeconds(30));
        assertThat(longest.maxEntries()).isEqualTo(65_536);
        assertThat(longest.maxSessionIdBytes()).isEqualTo(256);
        assertThat(longest.mode()).isEqualTo(AffinityMode.HARD);
        assertThat(longest.rebindMoment()).isEqualTo(RebindMoment.ON_FIRST_TOKEN);
        assertThat(AffinityConfig.ttlOfSeconds(1.5)).isEqualTo(Duration.ofMillis(1500));
    }

    @Test
    void mode_parse_isExactLowerCase() {
        assertThat(AffinityMode.parse("hard")).isEqualTo(AffinityMode.HARD);
        assertThat(AffinityMode.parse("soft")).isEqualTo(AffinityMode.SOFT);
        refused("session_affinity_mode", () -> AffinityMode.parse("Hard"));
        refused("session_affinity_mode", () -> AffinityMode.parse(" soft"));
    }

    @Test
    void keys_digestAndGroup_haveFixedSizeAndHideTheId() {
        String id = "user-42@example.com";
        assertThat(SessionKeys.digest(id)).hasSize(16).matches("[0-9a-f]+");
        assertThat(SessionKeys.digest(id)).isEqualTo(SessionKeys.digest(id)).isNotEqualTo(SessionKeys.digest("other"));
        assertThat(SessionKeys.subAgentGroup(id))
                .startsWith("\u0001sg:")
                .hasSize(68)
                .doesNotContain(id);
        assertThat(SessionKeys.subAgentGroup("x".repeat(10_000))).hasSize(68);
    }

    @Test
    void texts_ofRequestsAndRecords_containNoSessionId() {
        String id = "secret-session";
        AffinityReplicaRecord record = new AffinityReplicaRecord(
                dev.tandemkv.catalog.PartitionKey.DEFAULT, id, worker(1), new AffinityVersion(1, 2), 3);
        assertThat(record.toString()).doesNotContain(id).contains(SessionKeys.digest(id));
        assertThat(SessionRequest.of(id, t -> true).toString()).doesNotContain(id);
        Tables hard = Tables.hard().bound(id, worker(1));
        assertThatThrownBy(() -> hard.table.tryAcquire(id, worker(2)))
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain(id));
    }
}

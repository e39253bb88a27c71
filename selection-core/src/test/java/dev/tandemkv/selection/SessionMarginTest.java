package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.affinity.AffinityMode;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.config.SelectionConfig;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** How far a sticky worker may be ahead in load. */
class SessionMarginTest {

    private static CoreFixture fleet(AffinityMode mode, Double margin) {
        CoreFixture f = new CoreFixture(SelectionConfig.builder()
                        .sessionAffinityTtl(Duration.ofMinutes(10))
                        .sessionAffinityMode(mode)
                        .sessionLoadMargin(margin)
                        .build())
                .workers(3);
        // The session is bound to 1; then 1 gets 20 blocks of prefill and 20 of decode, 2 gets 2 and 2, 3 nothing.
        f.book(turn().allowedWorkerIds(Set.of(1L))).close();
        f.book(request(8, 320).pinnedWorker(WorkerRank.of(1)));
        f.book(request(9, 32).pinnedWorker(WorkerRank.of(2)));
        return f;
    }

    private static SelectRequest.Builder turn() {
        return request(1, 64).session(SessionContext.of("s"));
    }

    @Test
    void kL6_withinTheMargin_stays() {
        for (AffinityMode mode : AffinityMode.values()) {
            CoreFixture f = fleet(mode, 40.0);
            assertThat(f.select(turn()).worker()).as("%s", mode).isEqualTo(WorkerRank.of(1));
            assertThat(f.book(turn()).id().worker()).as("%s", mode).isEqualTo(WorkerRank.of(1));
        }
    }

    @Test
    void kL6_beyondTheMargin_movesToTheLeastLoaded() {
        for (AffinityMode mode : AffinityMode.values()) {
            CoreFixture f = fleet(mode, 39.0);
            assertThat(f.select(turn()).worker()).as("%s", mode).isEqualTo(WorkerRank.of(3));
            try (Booking moved = f.book(turn())) {
                assertThat(moved.id().worker()).as("%s", mode).isEqualTo(WorkerRank.of(3));
                moved.prefillComplete();
            }
            assertThat(f.book(turn()).id().worker()).as("%s", mode).isEqualTo(WorkerRank.of(3));
        }
    }

    @Test
    void kL6_byDefault_staysHoweverFarAhead() {
        CoreFixture f = fleet(AffinityMode.HARD, null);
        f.book(request(8, 16_000).pinnedWorker(WorkerRank.of(1)));
        assertThat(f.book(turn()).id().worker()).isEqualTo(WorkerRank.of(1));
    }
}

package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.prompt;
import static dev.tandemkv.selection.CoreFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.SelectionException.Kind;
import org.junit.jupiter.api.Test;

class SelectionCoreTest {

    @Test
    void select_workerHoldsThePrompt_choosesItAndBooksNothing() {
        CoreFixture f = new CoreFixture().workers(3);
        f.holds(2, prompt(1, 160), 10);

        Selection chosen = f.select(request(1, 160));

        assertThat(chosen.worker().workerId()).isEqualTo(2);
        assertThat(chosen.overlap().gpu()).isEqualTo(160);
        assertThat(chosen.effectivePrefillTokens()).isZero();
        assertThat(chosen.endpoint()).isEqualTo("10.0.0.2:8000");
        f.assertEmpty();
    }

    @Test
    void selectAndReserve_lifeOfABooking_loadComesAndGoes() {
        CoreFixture f = new CoreFixture().workers(1);

        Booking booking = f.book(request(1, 40, "r1"));

        assertThat(f.load(1).potentialPrefillTokens()).isEqualTo(40);
        assertThat(f.load(1).potentialDecodeBlocks()).isEqualTo(2);
        booking.prefillComplete();
        booking.prefillComplete();
        assertThat(f.load(1).potentialPrefillTokens()).isZero();
        booking.addOutputBlocks(3);
        assertThat(f.load(1).potentialDecodeBlocks()).isEqualTo(5);
        assertThat(now(f.core.free(booking))).isEqualTo(FreeOutcome.FREED);
        assertThat(now(f.core.free("r1"))).isEqualTo(FreeOutcome.ALREADY_GONE);
        booking.close();
        f.assertEmpty();
        assertThat(now(booking.ended())).isEqualTo(EndReason.FREED);
    }

    @Test
    void selectAndReserve_sameIdTwice_conflictAndTheFirstStays() {
        CoreFixture f = new CoreFixture().workers(2);
        f.book(request(1, 40, "r1"));

        assertThat(f.failureOf(f.core.selectAndReserve(request(2, 40, "r1").build())))
                .isEqualTo(Kind.CONFLICT);
        assertThat(f.core.stats().reservations()).isEqualTo(1);
        assertThat(now(f.core.free("r1"))).isEqualTo(FreeOutcome.FREED);
        f.assertEmpty();
    }

    @Test
    void select_noWorkers_notReady() {
        CoreFixture f = new CoreFixture();
        assertThat(f.failureOf(f.core.select(request(1, 40).build()))).isEqualTo(Kind.NOT_READY);
    }
}

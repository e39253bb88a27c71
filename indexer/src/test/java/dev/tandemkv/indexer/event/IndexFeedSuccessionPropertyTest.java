package dev.tandemkv.indexer.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.indexer.event.ProcessSuccession.Replays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * Processes that take one another's place, with numbers that overlap and contents of their own, against the plain truth: a rank that calls
 * itself exact shows what the process holds that lives.
 */
class IndexFeedSuccessionPropertyTest {

    @Property(tries = 1000)
    void successors_thatAnswer_endAtTheirTruth(@ForAll long seed, @ForAll @IntRange(min = 5, max = 120) int steps) {
        ProcessSuccession run = new ProcessSuccession(seed, Replays.RELIABLE);
        run.live(steps);
        run.settle();
        assertThat(run.exactness()).as(run::story).isEqualTo(Exactness.EXACT);
        assertThat(run.shown()).as(run::story).isEqualTo(run.truth());
    }

    @Property(tries = 1000)
    void successors_thatDoNotAnswerOrHaveForgotten_areNeverMistaken(
            @ForAll long seed, @ForAll @IntRange(min = 5, max = 120) int steps) {
        ProcessSuccession run = new ProcessSuccession(seed, Replays.FAULTY);
        run.live(steps);
        run.settle();
        if (run.exactness().equals(Exactness.EXACT)) {
            assertThat(run.shown()).as(run::story).isEqualTo(run.truth());
        }
        run.clear();
        run.settle();
        assertThat(run.exactness()).as(run::story).isEqualTo(Exactness.EXACT);
        assertThat(run.shown()).as(run::story).isEqualTo(run.truth());
    }
}

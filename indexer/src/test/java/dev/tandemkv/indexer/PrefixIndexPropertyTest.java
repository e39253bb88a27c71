package dev.tandemkv.indexer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.IndexStreams.Action;
import dev.tandemkv.indexer.IndexStreams.Setup;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** The production index against {@link NaiveIndex}: equal outcomes, scores, sizes, copies and memory after every event. */
class PrefixIndexPropertyTest {

    @Provide
    Arbitrary<Setup> setups() {
        return IndexStreams.setups();
    }

    @Provide
    Arbitrary<List<Action>> streams() {
        return IndexStreams.streams(60, 10);
    }

    @Provide
    Arbitrary<List<Action>> longStreams() {
        return IndexStreams.streams(400, 30);
    }

    @Provide
    Arbitrary<List<Action>> shallowStreams() {
        return IndexStreams.streams(150, 4);
    }

    @Property(tries = 400)
    void anyStream_anyPolicy_equalsModelAtEveryStep(
            @ForAll("setups") Setup setup, @ForAll("streams") List<Action> stream) {
        Comparison comparison = new Comparison(setup);
        for (Action action : stream) {
            comparison.step(action);
        }
    }

    @Property(tries = 20)
    void longStream_anyPolicy_equalsModelAtEveryStep(
            @ForAll("setups") Setup setup, @ForAll("longStreams") List<Action> stream) {
        Comparison comparison = new Comparison(setup);
        for (Action action : stream) {
            comparison.step(action);
        }
    }

    @Property(tries = 100)
    void shallowStream_copiesCounted_equalsModelAtEveryStep(
            @ForAll("setups") Setup setup, @ForAll("shallowStreams") List<Action> stream) {
        Comparison comparison =
                new Comparison(new Setup(setup.holes(), 0, setup.memory(), SourceTraits.COUNTS_COPIES, 1));
        for (Action action : stream) {
            comparison.step(action);
        }
    }

    @Property(tries = 120)
    void anyStream_dividedAmongShards_equalsModelAtEveryStep(
            @ForAll("setups") Setup setup,
            @ForAll("streams") List<Action> stream,
            @ForAll @IntRange(min = 1, max = 3) int power) {
        Comparison comparison = new Comparison(setup.with(1 << power));
        for (Action action : stream) {
            comparison.step(action);
        }
    }

    @Property(tries = 80)
    void contents_restoredIntoAFreshIndex_equal(@ForAll("setups") Setup setup, @ForAll("streams") List<Action> stream) {
        Comparison comparison = new Comparison(setup);
        for (Action action : stream) {
            comparison.step(action);
        }
        PrefixIndex restored = setup.index(new SeededRandom(5));
        for (WorkerRank rank : comparison.index.ranks()) {
            RankContents contents = comparison.index.contents(rank).orElseThrow();
            assertThat(restored.restore(contents)).isEqualTo(EventOutcome.OK);
            restored.checkInvariants();
        }
        comparison.withIndex(restored).compareAll();
    }
}

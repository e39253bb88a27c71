package dev.tandemkv.indexer.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.SourceTraits;
import org.junit.jupiter.api.Test;

/** What a lookup answers that never sees the counter at rest. */
class LookupTest {

    private final Tree tree = new Tree(new SeededRandom(1), 0);
    private final RankDirectory directory = new RankDirectory(8, tree.sequence);
    private final Lookup lookup =
            new Lookup(tree, directory, new LowerTiers(tree.sequence, tree.bytes, tree.holders, 1));

    @Test
    void find_writerStoppedInsideASection_answersNothingAboutRanksThatItNames() {
        directory.add(WorkerRank.of(7), SourceTraits.DEFAULT);
        tree.sequence.begin();
        ScoreScratch scores = new ScoreScratch(false);
        lookup.find(new long[] {1, 2}, 2, scores, false);
        assertThat(scores.device(0)).isZero();
        assertThat(scores.holders()).isZero();
        assertThat(scores.workerIds[0]).isEqualTo(7);
        assertThat(scores.epoch).isEqualTo(directory.epoch());
    }

    @Test
    void findBest_writerStoppedInsideASection_answersNobody() {
        directory.add(WorkerRank.of(7), SourceTraits.DEFAULT);
        tree.sequence.begin();
        BestScratch best = new BestScratch(1);
        lookup.findBest(new long[] {1, 2}, 2, best);
        assertThat(best.size).isZero();
    }
}

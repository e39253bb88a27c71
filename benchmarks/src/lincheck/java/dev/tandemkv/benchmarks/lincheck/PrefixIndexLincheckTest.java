package dev.tandemkv.benchmarks.lincheck;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.Arrays;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * Claim: where a lookup's retries suffice, which they do in scenarios this short, and for events of one block, the index is linearizable: one answer shows
 * the scores of all ranks at one instant inside the lookup, whatever splits, merges, appends, frees and reuses of slots lie in it. An event of several
 * blocks takes effect in steps and may be seen in part, and a lookup that gives up answers less; that neither ever answers more is what the stress tests
 * claim.
 *
 * <p>Guards against: a change that a reader can reach outside a section of the sequence counter, a result that is not validated, a counter that is
 * raised after the change or lowered before it.
 */
@Param(name = "rank", gen = IntGen.class, conf = "0:1")
@Param(name = "branch", gen = IntGen.class, conf = "0:1")
@Param(name = "block", gen = IntGen.class, conf = "0:3")
public class PrefixIndexLincheckTest {

    private final PrefixIndex index = PrefixIndex.builder().build();
    private final int[] slots = new int[HeldBlocks.RANKS];

    public PrefixIndexLincheckTest() {
        for (int rank = 0; rank < slots.length; rank++) {
            slots[rank] = index.register(WorkerRank.of(rank), SourceTraits.DEFAULT);
            long[] path = HeldBlocks.atStart(rank);
            index.apply(WorkerRank.of(rank), KvEvent.Stored.device(null, path, path));
        }
    }

    @Operation(params = {"rank", "branch", "block"})
    public void store(int rank, int branch, int block) {
        long[] path = HeldBlocks.path(branch);
        long[] one = {path[block]};
        index.apply(WorkerRank.of(rank), KvEvent.Stored.device(block == 0 ? null : (Long) path[block - 1], one, one));
    }

    @Operation(params = {"rank", "branch", "block"})
    public void evict(int rank, int branch, int block) {
        index.apply(WorkerRank.of(rank), KvEvent.Removed.device(HeldBlocks.path(branch)[block]));
    }

    @Operation(params = "branch")
    public String find(int branch) {
        OverlapScores scores = OverlapScores.withLastHashes();
        long[] path = HeldBlocks.path(branch);
        index.find(path, path.length, scores);
        int[] blocks = new int[slots.length];
        for (int rank = 0; rank < slots.length; rank++) {
            blocks[rank] = scores.blocks(slots[rank]);
            if (blocks[rank] > 0 && scores.lastExternalHash(slots[rank]) != path[blocks[rank] - 1]) {
                return "torn";
            }
        }
        return Arrays.toString(blocks);
    }

    @Test
    void modelChecked() {
        new ModelCheckingOptions()
                .iterations(8)
                .invocationsPerIteration(200)
                .threads(2)
                .actorsBefore(1)
                .actorsPerThread(2)
                .actorsAfter(1)
                .sequentialSpecification(HeldBlocks.class)
                .check(PrefixIndexLincheckTest.class);
    }

    @Test
    void stressed() {
        new StressOptions()
                .iterations(10)
                .invocationsPerIteration(500)
                .threads(2)
                .actorsBefore(1)
                .actorsPerThread(3)
                .actorsAfter(1)
                .sequentialSpecification(HeldBlocks.class)
                .check(PrefixIndexLincheckTest.class);
    }
}

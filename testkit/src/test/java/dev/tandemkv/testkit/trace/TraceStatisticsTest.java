package dev.tandemkv.testkit.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tandemkv.testkit.engine.BlockCache;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The figures that the traces' publishers and we agree on, to the integer: they come out of the simulator's own cache. */
class TraceStatisticsTest {

    @Test
    void conversation_readWhole_givesTheGoldenIntegers() {
        TraceStatistics statistics = TraceStatistics.of(Shared.conversation());

        assertThat(statistics.requests()).isEqualTo(12_031);
        assertThat(statistics.durationSeconds()).isCloseTo(3_537.0, within(0.05));
        assertThat(statistics.tokens().input()).isEqualTo(144_793_823);
        assertThat(statistics.tokens().output()).isEqualTo(4_122_048);
        assertThat(rounded(statistics.tokens().inputLengths())).isEqualTo(List.of(6_909L, 27_367L, 85_400L, 126_195L));
        assertThat(rounded(statistics.tokens().outputLengths())).isEqualTo(List.of(350L, 597L, 1_119L, 2_000L));
        assertThat(statistics.blocks().total()).isEqualTo(288_500);
        assertThat(statistics.blocks().unique()).isEqualTo(182_790);
        assertThat(statistics.blocks().idealReuse()).isEqualTo(105_710);
        assertThat(statistics.blocks().idealReuseTokens() / 144_793_823.0).isCloseTo(0.3736, within(0.00005));
        assertThat(statistics.roundRobinHitBlocks())
                .isEqualTo(Map.of(1, 105_710L, 2, 78_076L, 4, 55_323L, 8, 39_315L, 16, 28_578L, 32, 21_064L));
    }

    @Test
    void synthetic_readWhole_givesTheGoldenIntegers() {
        TraceStatistics statistics = TraceStatistics.of(Shared.synthetic());

        assertThat(statistics.requests()).isEqualTo(3_993);
        assertThat(rounded(statistics.tokens().inputLengths())).isEqualTo(List.of(11_587L, 38_611L, 66_456L, 191_378L));
        assertThat(rounded(statistics.tokens().outputLengths())).isEqualTo(List.of(69L, 389L, 768L, 893L));
        assertThat(statistics.blocks().total()).isEqualTo(121_877);
        assertThat(statistics.blocks().unique()).isEqualTo(43_924);
        assertThat(statistics.blocks().idealReuse()).isEqualTo(77_953);
        assertThat(statistics.roundRobinHitBlocks())
                .isEqualTo(Map.of(1, 77_953L, 2, 62_011L, 4, 44_442L, 8, 27_588L, 16, 16_536L, 32, 8_847L));
    }

    @Test
    void conversation_oneCacheOfEachSize_givesThePublishedHitRatios() {
        assertThat(hitRatios(Shared.conversation())).containsExactly(0.045, 0.112, 0.212, 0.288, 0.355, 0.364);
    }

    @Test
    void synthetic_oneCacheOfEachSize_givesThePublishedHitRatios() {
        assertThat(hitRatios(Shared.synthetic())).containsExactly(0.084, 0.279, 0.424, 0.572, 0.640, 0.640);
    }

    @Test
    void azure_readWhole_hasNoBlocks() {
        TraceStatistics code = TraceStatistics.of(Shared.read("azure_llm_2023_code.csv.gz"));
        TraceStatistics chat = TraceStatistics.of(Shared.read("azure_llm_2023_conv.csv.gz"));

        assertThat(code.requests()).isEqualTo(8_819);
        assertThat(code.durationSeconds()).isCloseTo(3_435.9, within(0.05));
        assertThat(rounded(code.tokens().inputLengths())).isEqualTo(List.of(1_469L, 5_188L, 7_436L, 7_437L));
        assertThat(code.blocks()).isEqualTo(new TraceStatistics.Blocks(0, 0, 0, 0));
        assertThat(chat.requests()).isEqualTo(19_366);
        assertThat(rounded(chat.tokens().outputLengths())).isEqualTo(List.of(129L, 424L, 601L, 1_000L));
    }

    private static List<Long> rounded(Distribution d) {
        return List.of(Math.round(d.p50()), Math.round(d.p90()), Math.round(d.p99()), Math.round(d.max()));
    }

    private static List<Double> hitRatios(Trace trace) {
        BlockTree tree = BlockTree.of(trace);
        return List.of(1_000, 5_000, 10_000, 20_000, 50_000, 100_000).stream()
                .map(capacity -> hitRatio(trace, tree, capacity))
                .toList();
    }

    private static double hitRatio(Trace trace, BlockTree tree, int capacity) {
        BlockCache cache = new BlockCache(capacity, block -> {});
        long hits = 0;
        long blocks = 0;
        for (int r = 0; r < trace.requests().size(); r++) {
            hits += cache.replay(tree.blocksOf(r));
            blocks += tree.blocksOf(r).length;
        }
        return Math.round(1_000.0 * hits / blocks) / 1_000.0;
    }
}

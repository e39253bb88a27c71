package dev.tandemkv.testkit.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TraceTest {

    private static final Trace TWO = new Trace(
            "two",
            512,
            List.of(request(0, 1_000, 7, 8), request(3_000_000_000L, 1_024, 7, 9), request(3_000_000_000L, 513, 7, 8)));

    private static TraceRequest request(long arrival, int input, long... ids) {
        return new TraceRequest(arrival, input, 10, ids, null);
    }

    @Test
    void fullBlocks_lengthNoMultipleOfTheBlock_dropsTheLast() {
        assertThat(TWO.fullBlocks(TWO.requests().get(0))).isEqualTo(1);
        assertThat(TWO.fullBlocks(TWO.requests().get(1))).isEqualTo(2);
    }

    @Test
    void rechunked_equalIds_giveEqualRunsCutAtThePromptsEnd() {
        Trace finer = TWO.rechunked(4);

        long[] first = finer.requests().get(0).blockIds();
        long[] second = finer.requests().get(1).blockIds();
        long[] third = finer.requests().get(2).blockIds();
        assertThat(finer.blockTokens()).isEqualTo(128);
        assertThat(first).hasSize(8).doesNotHaveDuplicates();
        assertThat(second).hasSize(8).startsWith(Arrays.copyOf(first, 4));
        assertThat(second).doesNotContain(Arrays.copyOfRange(first, 4, 8));
        assertThat(third).isEqualTo(Arrays.copyOf(first, 5));
    }

    @Test
    void rechunked_conversation_givesThePublishedFullBlockCounts() {
        Trace conversation = Shared.conversation();

        assertThat(List.of(4, 8, 32).stream()
                        .map(f -> Math.round(fullBlocks(conversation.rechunked(f)) / 1e4))
                        .toList())
                .containsExactly(113L, 226L, 904L);
    }

    private static long fullBlocks(Trace trace) {
        return trace.requests().stream().mapToLong(trace::fullBlocks).sum();
    }

    @Test
    void rechunked_factorThatDoesNotDivide_isRefused() {
        assertThatThrownBy(() -> TWO.rechunked(3)).hasMessageContaining("factor: 3");
    }

    @Test
    void duplicated_copies_shareNoBlock() {
        Trace threefold = TWO.duplicated(3);

        assertThat(threefold.requests()).hasSize(9);
        Set<Long> seen = new HashSet<>();
        for (int copy = 0; copy < 3; copy++) {
            Set<Long> own = new HashSet<>();
            for (int i = copy; i < 9; i += 3) {
                for (long id : threefold.requests().get(i).blockIds()) {
                    own.add(id);
                }
            }
            assertThat(own).hasSize(3).noneMatch(seen::contains);
            seen.addAll(own);
        }
    }

    @Test
    void atRate_twice_halvesTheTimes() {
        assertThat(TWO.atRate(2).requests())
                .extracting(TraceRequest::arrivalNanos)
                .containsExactly(0L, 1_500_000_000L, 1_500_000_000L);
        assertThatThrownBy(() -> TWO.atRate(0)).hasMessageContaining("factor: 0");
    }

    @Test
    void withPrivateBlocks_lengthsOnly_sharesNothing() {
        TraceStatistics.Blocks blocks =
                TraceStatistics.of(TWO.withPrivateBlocks(100)).blocks();

        assertThat(blocks.total()).isEqualTo(10 + 11 + 6);
        assertThat(blocks.unique()).isEqualTo(blocks.total());
        assertThat(blocks.idealReuse()).isZero();
    }

    @Test
    void blockTree_sameIdAfterDifferentBlocks_isTwoBlocks() {
        BlockTree tree = BlockTree.of(new Trace("t", 512, List.of(request(0, 1_024, 1, 5), request(0, 1_024, 2, 5))));

        assertThat(tree.size()).isEqualTo(4);
        assertThat(tree.parentOf(tree.blocksOf(1)[1])).isEqualTo(tree.blocksOf(1)[0]);
    }

    @Test
    void trace_unsorted_isRefused() {
        assertThatThrownBy(() -> new Trace("t", 512, List.of(request(5, 512, 1), request(4, 512, 2))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("requests[1].arrivalNanos: 4");
    }

    @Test
    void mooncakeFiles_everyId_hasOnePredecessor() {
        for (Trace trace : List.of(Shared.conversation(), Shared.synthetic())) {
            BlockTree tree = BlockTree.of(trace);
            Set<Long> ids = new HashSet<>();
            for (int block = 0; block < tree.size(); block++) {
                ids.add(tree.idOf(block));
            }
            assertThat(ids).hasSize(tree.size());
        }
    }

    @Test
    void toolagentLike_seed42_isReproducibleAndLikeThePublishedTrace() {
        Trace conversation = Shared.conversation();

        Trace generated = ToolagentLike.generate(conversation, 42);

        assertThat(ToolagentLike.generate(conversation, 42)).isEqualTo(generated);
        assertThat(ToolagentLike.generate(conversation, 43)).isNotEqualTo(generated);
        TraceStatistics statistics = TraceStatistics.of(generated);
        assertThat(statistics.requests()).isEqualTo(23_608);
        assertThat(statistics.tokens().inputLengths().mean()).isCloseTo(8_717, within(60.0));
        assertThat(statistics.tokens().outputLengths().mean()).isCloseTo(169, within(3.0));
        assertThat((double) statistics.blocks().unique()).isCloseTo(193_950, within(1_500.0));
        assertThat((double) statistics.blocks().idealReuse()
                        / statistics.blocks().total())
                .isCloseTo(0.531, within(0.005));
    }
}

package dev.tandemkv.examples.enginewatch;

import dev.tandemkv.adapters.enginewire.WireBatch;
import dev.tandemkv.adapters.enginewire.WireEvent;
import dev.tandemkv.adapters.enginewire.WireEvent.BlockStored;
import dev.tandemkv.indexer.hash.BlockHasher;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * How many tokens a block has, and how many behind it its hash covers.
 *
 * @param blockSize tokens of a block
 * @param lookahead tokens behind it: 1 for an engine that announces pairs of tokens
 */
record Geometry(int blockSize, int lookahead) {

    /** What engines use unless told otherwise (vLLM). */
    static final Geometry USUAL = new Geometry(16, 0);

    private static final Set<String> MAIN_ATTENTION = Set.of("full_attention", "mla_attention", "sink_full_attention");

    BlockHasher hasher() {
        return BlockHasher.ofBlockSize(blockSize).withLookahead(lookahead);
    }

    /** What the first store of the main attention in a batch shows. */
    static Optional<Geometry> shownBy(WireBatch batch) {
        for (WireEvent event : batch.events()) {
            if (event instanceof BlockStored stored && isTelling(stored)) {
                List<List<Integer>> lookahead = stored.lookaheadTokens();
                int behind = lookahead == null
                        ? 0
                        : lookahead.stream().mapToInt(List::size).max().orElse(0);
                return Optional.of(
                        new Geometry((int) stored.blockSize(), stored.tokens().isPairs() ? behind + 1 : behind));
            }
        }
        return Optional.empty();
    }

    private static boolean isTelling(BlockStored event) {
        String kind = event.specKind();
        Integer group = event.groupIdx();
        boolean main = kind != null ? MAIN_ATTENTION.contains(kind) : group == null || group == 0;
        return main && event.tokens().size() > 0 && event.blockSize() >= 1 && event.blockSize() <= Integer.MAX_VALUE;
    }
}

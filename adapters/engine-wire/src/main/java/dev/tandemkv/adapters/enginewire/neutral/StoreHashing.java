package dev.tandemkv.adapters.enginewire.neutral;

import dev.tandemkv.adapters.enginewire.WireEvent.BlockStored;
import dev.tandemkv.adapters.enginewire.WireTokens;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Local hashes of the blocks of one store, by the geometry of the partition. The same hasher serves requests, so both agree by
 * construction. Immutable, thread-safe.
 */
final class StoreHashing {

    private static final long[] NONE = {};

    private final BlockHasher hasher;

    StoreHashing(BlockHasher hasher) {
        this.hasher = hasher;
    }

    /**
     * Blocks of one store that can be hashed.
     *
     * @param locals one per block that is kept, from the first on
     * @param defect why not all were kept, or {@code null}
     */
    record Result(long[] locals, @Nullable DropReason defect) {}

    Result hash(BlockStored event, HashScope scope, KeyReading keys) {
        DropReason conflict = conflict(event);
        if (conflict != null) {
            return new Result(NONE, conflict);
        }
        MultimodalObjects objects = keys.hasObjects()
                ? MultimodalObjects.perBlock(keys.objects().stream()
                        .<long @Nullable []>map(block -> block)
                        .toList())
                : MultimodalObjects.NONE;
        List<List<Integer>> lookahead = event.lookaheadTokens();
        long[] locals = lookahead != null && hasher.lookahead() > 0
                ? withOwnLookahead(event, lookahead, scope, keys)
                : inOneChain(event.tokens(), event.blockHashes().size(), scope, objects);
        boolean complete = locals.length == event.blockHashes().size();
        return new Result(locals, complete ? null : DropReason.SHORT_TOKEN_LIST);
    }

    /** Why nothing of the event can be hashed. */
    private @Nullable DropReason conflict(BlockStored event) {
        if (event.blockSize() != hasher.blockSize() || hasher.blockSize() == 0) {
            return DropReason.CONFLICTING_BLOCK_SIZE;
        }
        int hashes = event.blockHashes().size();
        List<List<Integer>> lists = event.lookaheadTokens();
        int perList =
                lists == null ? 0 : lists.stream().mapToInt(List::size).max().orElse(0);
        int lookahead = event.tokens().isPairs() ? perList + 1 : perList;
        // A last block may still wait for its look-ahead tokens, so shorter lists are no conflict where lists are sent
        // at all.
        boolean awaited = lists != null && !event.tokens().isPairs() && lookahead < hasher.lookahead();
        if (lookahead != hasher.lookahead() && !awaited && event.tokens().size() > 0) {
            return DropReason.CONFLICTING_LOOKAHEAD;
        }
        boolean moreBlocks = event.tokens().size() / hasher.blockSize() > hashes;
        return moreBlocks || (lists != null && lists.size() > hashes) ? DropReason.HASH_TOKEN_MISMATCH : null;
    }

    /** Plain tokens, or pairs laid out as the firsts of all and the second of the last. */
    private long[] inOneChain(WireTokens tokens, int hashes, HashScope scope, MultimodalObjects objects) {
        int usable = tokens.isPairs() ? chainedPairs(tokens) : tokens.size();
        int blocks = Math.min(hashes, usable / hasher.blockSize());
        if (blocks == 0) {
            return NONE;
        }
        int count = blocks * hasher.blockSize();
        int[] flat = new int[count + (tokens.isPairs() ? 1 : 0)];
        for (int i = 0; i < count; i++) {
            flat[i] = tokens.first(i);
        }
        if (tokens.isPairs()) {
            flat[count] = tokens.second(count - 1);
        }
        long[] locals = new long[blocks];
        hasher.locals(flat, flat.length, scope, objects, locals);
        return locals;
    }

    /** How many pairs overlap from the first on: (a, b), (b, c), ... Others cannot be laid out as one chain. */
    private static int chainedPairs(WireTokens pairs) {
        int chained = Math.min(1, pairs.size());
        while (chained < pairs.size() && pairs.second(chained - 1) == pairs.first(chained)) {
            chained++;
        }
        return chained;
    }

    /** Each block with the look-ahead tokens that the event names for it, up to the first block with too few. */
    private long[] withOwnLookahead(
            BlockStored event, List<List<Integer>> lookahead, HashScope scope, KeyReading keys) {
        int size = hasher.blockSize();
        int blocks = Math.min(event.blockHashes().size(), event.tokens().size() / size);
        long[] locals = new long[blocks];
        long[] one = new long[1];
        int[] window = new int[size + hasher.lookahead()];
        for (int i = 0; i < blocks; i++) {
            List<Integer> behind = i < lookahead.size() ? lookahead.get(i) : List.of();
            if (behind.size() < hasher.lookahead()) {
                return Arrays.copyOf(locals, i);
            }
            for (int k = 0; k < size; k++) {
                window[k] = event.tokens().first(i * size + k);
            }
            for (int k = 0; k < behind.size(); k++) {
                window[size + k] = behind.get(k);
            }
            long[] inBlock = keys.objects().get(i);
            MultimodalObjects objects =
                    inBlock.length == 0 ? MultimodalObjects.NONE : MultimodalObjects.perBlock(List.of(inBlock));
            hasher.locals(window, window.length, scope, objects, one);
            locals[i] = one[0];
        }
        return locals;
    }
}

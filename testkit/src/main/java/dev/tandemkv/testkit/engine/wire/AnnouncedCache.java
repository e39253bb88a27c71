package dev.tandemkv.testkit.engine.wire;

import dev.tandemkv.testkit.engine.EngineListener;
import dev.tandemkv.testkit.engine.EngineRequest;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;

/**
 * Lets a {@link dev.tandemkv.testkit.engine.FakeEngine} drive a {@link FakeRank}: whatever its cache stores and evicts is announced. The
 * driver publishes, once an iteration. Not thread-safe.
 */
public final class AnnouncedCache implements EngineListener {

    private final FakeRank rank;
    private final Blocks blocks;
    private final EngineListener next;
    /** Numbers of the blocks that are announced: the engine also evicts blocks that it never filled. */
    private final BitSet announced = new BitSet();

    /** What the engine's block numbers stand for. A number belongs to one place in one chain. */
    public interface Blocks {
        EngineHash hash(int block);

        /** As many ids as a block has. */
        int[] tokens(int block);
    }

    /** @param next told everything as well, last */
    public AnnouncedCache(FakeRank rank, Blocks blocks, EngineListener next) {
        this.rank = Objects.requireNonNull(rank, "rank");
        this.blocks = Objects.requireNonNull(blocks, "blocks");
        this.next = Objects.requireNonNull(next, "next");
    }

    /** Announces each run of blocks that were not held: an engine does not announce a physical copy that it did not make. */
    @Override
    public void stored(EngineRequest request, int from, int to) {
        int[] chain = request.blocks();
        int start = from;
        while (start < to) {
            int end = start;
            while (end < to && !announced.get(chain[end])) {
                announced.set(chain[end++]);
            }
            if (end > start) {
                store(chain, start, end);
            }
            start = Math.max(end, start + 1);
        }
        next.stored(request, from, to);
    }

    private void store(int[] chain, int from, int to) {
        List<EngineHash> hashes = new ArrayList<>();
        int size = blocks.tokens(chain[from]).length;
        int[] tokens = new int[(to - from) * size];
        for (int i = from; i < to; i++) {
            hashes.add(blocks.hash(chain[i]));
            System.arraycopy(blocks.tokens(chain[i]), 0, tokens, (i - from) * size, size);
        }
        EngineHash parent = from == 0 ? null : blocks.hash(chain[from - 1]);
        rank.storeOnDevice(parent, hashes, EngineTokens.of(tokens), size);
    }

    @Override
    public void evicted(int block) {
        if (announced.get(block)) {
            announced.clear(block);
            rank.removeFromDevice(List.of(blocks.hash(block)));
        }
        next.evicted(block);
    }

    @Override
    public void admitted(EngineRequest request, int cachedTokens) {
        next.admitted(request, cachedTokens);
    }

    @Override
    public void firstToken(EngineRequest request) {
        next.firstToken(request);
    }

    @Override
    public void grewByBlock(EngineRequest request) {
        next.grewByBlock(request);
    }

    @Override
    public void finished(EngineRequest request) {
        next.finished(request);
    }
}

package dev.tandemkv.testkit.trace;

import dev.tandemkv.catalog.time.SeededRandom;
import java.util.Arrays;
import java.util.List;

/**
 * The distinct blocks of a trace, numbered from 0 in order of first use. A block is its id <em>and</em> everything before it, so that a
 * number stands for one content whatever the ids of the file look like; ids that already are prefix-chained get one number each.
 *
 * <p>Layout: node n has its predecessor in {@code parent[n]} (-1 for a first block) and its id in {@code id[n]}; {@code slots} is an open
 * addressing table from (parent, id) to n + 1, at most half full. Immutable once built.
 */
public final class BlockTree {

    private final int[][] nodesByRequest;
    private int[] parent = new int[1024];
    private long[] id = new long[1024];
    private int[] slots = new int[2048];
    private int size;

    private BlockTree(int requests) {
        nodesByRequest = new int[requests][];
    }

    public static BlockTree of(Trace trace) {
        List<TraceRequest> requests = trace.requests();
        BlockTree tree = new BlockTree(requests.size());
        for (int r = 0; r < requests.size(); r++) {
            long[] ids = requests.get(r).blockIds();
            int[] nodes = new int[ids.length];
            int above = -1;
            for (int i = 0; i < ids.length; i++) {
                above = tree.intern(above, ids[i]);
                nodes[i] = above;
            }
            tree.nodesByRequest[r] = nodes;
        }
        return tree;
    }

    private int intern(int above, long blockId) {
        int mask = slots.length - 1;
        int slot = slotOf(above, blockId, mask);
        for (; slots[slot] != 0; slot = (slot + 1) & mask) {
            int node = slots[slot] - 1;
            if (parent[node] == above && id[node] == blockId) {
                return node;
            }
        }
        if (size == parent.length) {
            parent = Arrays.copyOf(parent, size * 2);
            id = Arrays.copyOf(id, size * 2);
        }
        parent[size] = above;
        id[size] = blockId;
        slots[slot] = ++size;
        if (size * 2 > slots.length) {
            grow();
        }
        return size - 1;
    }

    private void grow() {
        int[] wider = new int[slots.length * 2];
        int mask = wider.length - 1;
        for (int node = 0; node < size; node++) {
            int slot = slotOf(parent[node], id[node], mask);
            while (wider[slot] != 0) {
                slot = (slot + 1) & mask;
            }
            wider[slot] = node + 1;
        }
        slots = wider;
    }

    private static int slotOf(int above, long blockId, int mask) {
        return (int) SeededRandom.mix(blockId + above * 0x9E3779B97F4A7C15L) & mask;
    }

    /** Number of distinct blocks. */
    public int size() {
        return size;
    }

    /** The blocks of a request, first to last; not to be changed. */
    public int[] blocksOf(int request) {
        return nodesByRequest[request];
    }

    /** The block before a block, or -1. */
    public int parentOf(int block) {
        return parent[block];
    }

    /** The id that the trace gave a block. */
    public long idOf(int block) {
        return id[block];
    }
}

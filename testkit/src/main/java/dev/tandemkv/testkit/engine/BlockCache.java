package dev.tandemkv.testkit.engine;

import java.util.Arrays;

/**
 * A worker's KV cache: blocks pinned by the requests that use them, and the others in order of last use, oldest first to go. A request
 * lets go of its blocks from the last to the first, so a block is never older than the blocks that follow it, and eviction takes leaves.
 *
 * <p>Layout: a block is a small non-negative int and indexes every array. {@code state} says whether it is absent, reserved (room is
 * taken, content is not there yet) or ready; {@code pins} how many requests hold it; {@code older} and {@code newer} link the unpinned
 * ready blocks into a ring through {@code HEAD}, block b at index b + 1. Invariants: {@code used} counts the blocks that are not absent
 * and the room taken by outputs; it never exceeds {@code capacity}; a block is in the ring exactly if it is ready and unpinned.
 *
 * <p>Not thread-safe.
 */
public final class BlockCache {

    private static final byte ABSENT = 0;
    private static final byte RESERVED = 1;
    private static final byte READY = 2;
    private static final int HEAD = 0;

    private final int capacity;
    private final EvictionListener listener;
    private byte[] state = new byte[64];
    private int[] pins = new int[64];
    private int[] older = new int[65];
    private int[] newer = new int[65];
    private int used;
    private int unpinned;

    /** Learns of blocks that have to go, in the order in which they go. */
    @FunctionalInterface
    public interface EvictionListener {
        void evicted(int block);
    }

    /**
     * Creates an empty cache.
     *
     * @param capacity blocks; at least 1
     */
    public BlockCache(int capacity, EvictionListener listener) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity: " + capacity + " (expected: >= 1)");
        }
        this.capacity = capacity;
        this.listener = listener;
    }

    /** A cache that is never full. */
    public static BlockCache unbounded() {
        return new BlockCache(Integer.MAX_VALUE, block -> {});
    }

    public int capacity() {
        return capacity;
    }

    /** Blocks and output room in use, pinned or not. */
    public int used() {
        return used;
    }

    /** How many leading blocks are ready. */
    public int matched(int[] blocks) {
        int n = 0;
        while (n < blocks.length && blocks[n] < state.length && state[blocks[n]] == READY) {
            n++;
        }
        return n;
    }

    /**
     * Pins blocks for a request and takes room for its output, evicting what nobody pins.
     *
     * @param outputBlocks room for the output
     * @return false, with nothing changed, if that does not fit beside what is pinned
     */
    public boolean tryPin(int[] blocks, int outputBlocks) {
        int missing = 0;
        int revived = 0;
        for (int block : blocks) {
            ensureIndexed(block);
            if (state[block] == ABSENT) {
                missing++;
            } else if (pins[block] == 0) {
                revived++;
            }
        }
        long needed = (long) used + missing + outputBlocks - capacity;
        if (needed > unpinned - revived) {
            return false;
        }
        for (int block : blocks) {
            if (state[block] == READY && pins[block] == 0) {
                unlink(block);
            }
            pins[block]++;
        }
        for (; needed > 0; needed--) {
            evictOldest();
        }
        for (int block : blocks) {
            if (state[block] == ABSENT) {
                state[block] = RESERVED;
            }
        }
        used += missing + outputBlocks;
        return true;
    }

    /**
     * Fills a pinned block.
     *
     * @return false if it was ready before
     */
    public boolean fill(int block) {
        if (pins[block] == 0) {
            throw new IllegalStateException("block: " + block + " (expected: a pinned one)");
        }
        boolean first = state[block] == RESERVED;
        state[block] = READY;
        return first;
    }

    /** Lets go of a request's blocks, last to first, and of its output room. Blocks that were never filled are gone. */
    public void unpin(int[] blocks, int outputBlocks) {
        for (int i = blocks.length - 1; i >= 0; i--) {
            int block = blocks[i];
            if (--pins[block] > 0) {
                continue;
            }
            if (state[block] == READY) {
                linkNewest(block);
            } else {
                state[block] = ABSENT;
                used--;
            }
        }
        used -= outputBlocks;
    }

    /**
     * Serves a request at once: what it finds, pins, fills and lets go of.
     *
     * @return how many leading blocks were ready
     * @throws IllegalArgumentException if the request is larger than the cache
     */
    public int replay(int[] blocks) {
        int hits = matched(blocks);
        if (!tryPin(blocks, 0)) {
            throw new IllegalArgumentException("blocks: " + blocks.length + " (expected: <= " + capacity + ")");
        }
        for (int block : blocks) {
            fill(block);
        }
        unpin(blocks, 0);
        return hits;
    }

    private void evictOldest() {
        int block = newer[HEAD] - 1;
        unlink(block);
        state[block] = ABSENT;
        used--;
        listener.evicted(block);
    }

    private void linkNewest(int block) {
        int place = block + 1;
        int last = older[HEAD];
        newer[last] = place;
        older[place] = last;
        newer[place] = HEAD;
        older[HEAD] = place;
        unpinned++;
    }

    private void unlink(int block) {
        int place = block + 1;
        newer[older[place]] = newer[place];
        older[newer[place]] = older[place];
        unpinned--;
    }

    private void ensureIndexed(int block) {
        if (block < state.length) {
            return;
        }
        int wider = Math.max(block + 1, state.length * 2);
        state = Arrays.copyOf(state, wider);
        pins = Arrays.copyOf(pins, wider);
        older = Arrays.copyOf(older, wider + 1);
        newer = Arrays.copyOf(newer, wider + 1);
    }

    /** Recounts everything the slow way. */
    void checkInvariants() {
        int present = 0;
        int free = 0;
        for (int block = 0; block < state.length; block++) {
            present += state[block] == ABSENT ? 0 : 1;
            free += state[block] == READY && pins[block] == 0 ? 1 : 0;
            if (state[block] != READY && state[block] != RESERVED && pins[block] != 0) {
                throw new AssertionError("absent block " + block + " is pinned");
            }
        }
        int linked = 0;
        for (int place = newer[HEAD]; place != HEAD; place = newer[place]) {
            linked++;
        }
        if (linked != free || unpinned != free || used < present || used > capacity) {
            throw new AssertionError("linked " + linked + ", unpinned " + unpinned + ", free " + free + ", present "
                    + present + ", used " + used);
        }
    }
}

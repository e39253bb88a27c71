package dev.tandemkv.adapters.enginewire.neutral;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Looks for signs that a rank's hashes cover a block's own tokens only, as SGLang's did up to 0.5.5: the constant that those releases name
 * as parent of a first page, or one hash under two parents, which a cumulative hash cannot have.
 *
 * <p>Recent blocks are kept in a direct-mapped table that grows with what the rank stores, up to 4,096 entries (68 KiB): the signs appear
 * within the first few messages of such an engine, so a block that was overwritten is no loss.
 *
 * <p>Not thread-safe; confined to the normaliser.
 */
final class HashSchemeWatch {

    /** Parent of every first page in SGLang 0.4.10. */
    static final long CONSTANT_PARENT = 5740354900026072187L;

    private static final int SMALLEST = 64;
    private static final int LARGEST = 4_096;

    private static final byte EMPTY = 0;
    private static final byte ROOT = 1;
    private static final byte CHILD = 2;

    private long[] blocks = new long[0];
    private long[] parents = new long[0];
    private byte[] kinds = new byte[0];

    /** Blocks noted since the table grew last. */
    private int noted;

    /** Takes note of a chain of blocks and answers whether it shows a sign. */
    boolean shows(@Nullable Long parent, long[] chain) {
        if (parent != null && parent == CONSTANT_PARENT) {
            return true;
        }
        byte kind = parent == null ? ROOT : CHILD;
        long before = parent == null ? 0 : parent;
        for (long block : chain) {
            if (conflicts(block, kind, before)) {
                return true;
            }
            kind = CHILD;
            before = block;
        }
        return false;
    }

    private boolean conflicts(long block, byte kind, long parent) {
        if (noted++ >= blocks.length && blocks.length < LARGEST) {
            grow();
        }
        int slot = slot(block);
        if (kinds[slot] != EMPTY && blocks[slot] == block) {
            return kinds[slot] != kind || parents[slot] != parent;
        }
        put(slot, block, kind, parent);
        return false;
    }

    private void put(int slot, long block, byte kind, long parent) {
        blocks[slot] = block;
        kinds[slot] = kind;
        parents[slot] = parent;
    }

    private void grow() {
        long[] oldBlocks = blocks;
        long[] oldParents = parents;
        byte[] oldKinds = kinds;
        int size = Math.max(SMALLEST, 2 * blocks.length);
        blocks = new long[size];
        parents = new long[size];
        kinds = new byte[size];
        noted = 1;
        for (int i = 0; i < oldKinds.length; i++) {
            if (oldKinds[i] != EMPTY) {
                put(slot(oldBlocks[i]), oldBlocks[i], oldKinds[i], oldParents[i]);
            }
        }
    }

    private int slot(long block) {
        return (int) ((block * 0x9E3779B97F4A7C15L) >>> 32) & (blocks.length - 1);
    }

    void clear() {
        Arrays.fill(kinds, EMPTY);
    }
}

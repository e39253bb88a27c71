package dev.tandemkv.indexer.internal;

/**
 * The blocks that one copy-counting rank dropped while their count may have been short: external hash -> place, oldest first. A store that names one
 * as its parent proves that the engine still holds it (decision D-DUP). Writer only; the places are pinned by the caller.
 */
final class Memory {

    private final ExtNodes nodes;
    private int oldest;
    private int newest;

    Memory(ByteCount bytes, long multiplier) {
        nodes = new ExtNodes(bytes, multiplier);
    }

    long heldBytes() {
        return nodes.heldBytes();
    }

    boolean isEmpty() {
        return nodes.isEmpty();
    }

    int size() {
        return nodes.count();
    }

    /** The place of a remembered block, or 0. */
    int find(long ext) {
        int node = nodes.find(ext);
        return node == 0 ? 0 : nodes.slot(node);
    }

    /** Appends a block that is not remembered yet. */
    void add(long ext, int slot) {
        int node = nodes.add(ext, slot);
        nodes.setPrevious(node, newest);
        if (newest == 0) {
            oldest = node;
        } else {
            nodes.setNext(newest, node);
        }
        newest = node;
    }

    /** Forgets a block; answers its place, or 0 if it was not remembered. */
    int remove(long ext) {
        int node = nodes.find(ext);
        if (node == 0) {
            return 0;
        }
        int before = nodes.previous(node);
        int after = nodes.next(node);
        if (before == 0) {
            oldest = after;
        } else {
            nodes.setNext(before, after);
        }
        if (after == 0) {
            newest = before;
        } else {
            nodes.setPrevious(after, before);
        }
        int slot = nodes.slot(node);
        nodes.remove(node);
        return slot;
    }

    /** Forgets the oldest block, of which there must be one; answers its place. */
    int removeOldest() {
        return remove(nodes.ext(oldest));
    }

    /** All remembered blocks, oldest first: hash and place. */
    void copyTo(long[] exts, int[] slots) {
        int i = 0;
        for (int node = oldest; node != 0; node = nodes.next(node)) {
            exts[i] = nodes.ext(node);
            slots[i] = nodes.slot(node);
            i++;
        }
    }

    long growthFor(int count) {
        return nodes.growthFor(count);
    }
}

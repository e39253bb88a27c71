package dev.tandemkv.selection.internal.ledger;

import dev.tandemkv.catalog.time.SeededRandom;
import java.util.Arrays;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The booked prompts of a whole partition as one prefix tree; each node knows the rows that hold it ({@link Holders}).
 *
 * <p>One tree for all rows, because the question of every selection is one for all rows: how much of this prompt is active on each? A
 * single walk down answers it in O(blocks of the prompt + rows that hold any of it), see {@link #project}.
 *
 * <p><b>Layout.</b> A node is a run of blocks ({@link PrefixNode}); a booking ends at the end of a node. Children are found through one
 * open-addressing table keyed by (parent, first hash), hashed with a secret multiplier: tracking hashes are chosen by clients. Nodes
 * are pooled; they never leave this class except as the opaque end of a booking.
 *
 * <p><b>Invariants.</b> A node's holders are those of its children plus the bookings that end with it. A node without holders does not
 * exist. A node with one child, no booking that ends with it and the same weights is one with that child, so the tree is bounded by what is
 * booked now and not by its history.
 *
 * <p><b>Weights</b> are fixed-point in units of 1/{@link #ONE}, so that sums are exact and end at exactly 0. A fraction is rounded up
 * to a unit: five blocks of 0.7 are then never below the 3.5 that rounds to 4.
 */
final class SharedPrefixTree {

    /** Weight of one whole block. */
    static final long ONE = 1L << 28;

    private static final int POOLED_NODES = 4096;

    private final SeededRandom salts;
    private final long multiplier;
    private final PrefixNode root;

    private @Nullable PrefixNode[] table = new PrefixNode[64];
    private int shift = Long.SIZE - 6;
    private int nodes;

    /** Free nodes, chained through {@code nextSibling}. */
    private @Nullable PrefixNode pool;

    private int pooled;
    private long[] weightByRow = new long[8];

    SharedPrefixTree(long seed) {
        salts = new SeededRandom(seed);
        multiplier = salts.nextLong() | 1;
        root = new PrefixNode(salts.nextLong());
    }

    static long weightOf(double fraction) {
        return (long) Math.ceil(fraction * ONE);
    }

    void ensureRows(int rows) {
        if (rows > weightByRow.length) {
            weightByRow = Arrays.copyOf(weightByRow, Math.max(rows, weightByRow.length * 2));
        }
    }

    /** Weight of all prompt blocks that a row holds, each block once. */
    long weight(int row) {
        return weightByRow[row];
    }

    int nodes() {
        return nodes;
    }

    /**
     * Adds a booked prompt to a row.
     *
     * @return where the prompt ends, for {@link #remove}; {@code null} for a prompt without blocks
     */
    @Nullable
    PrefixNode add(int row, long[] hashes, int count) {
        PrefixNode at = root;
        for (int depth = 0; depth < count; ) {
            PrefixNode next = child(at, hashes[depth]);
            if (next == null) {
                next = newLeaf(at, hashes, depth, count);
            } else {
                int same = next.matchLength(hashes, depth, count);
                if (same < next.length) {
                    next = splitOff(next, same);
                }
            }
            if (next.holders.acquire(row)) {
                weightByRow[row] += next.length * ONE;
            }
            depth += next.length;
            at = next;
        }
        if (at == root) {
            return null;
        }
        at.terminals++;
        return at;
    }

    /** The hashes of a booked prompt, from its end back to its beginning through the runs it shares. */
    long[] hashesOf(PrefixNode terminal) {
        int count = 0;
        for (PrefixNode at = terminal; at != root; at = parentOf(at)) {
            count += at.length;
        }
        long[] hashes = new long[count];
        for (PrefixNode at = terminal; at != root; at = parentOf(at)) {
            count -= at.length;
            System.arraycopy(at.hashes, at.from, hashes, count, at.length);
        }
        return hashes;
    }

    /** Takes a booked prompt away from the row it was added to. */
    void remove(int row, PrefixNode terminal) {
        terminal.terminals--;
        PrefixNode deepest = null;
        for (PrefixNode at = terminal; at != root; ) {
            PrefixNode above = parentOf(at);
            int position = at.holders.find(row);
            long weight = at.holders.weightAt(position);
            if (at.holders.release(position)) {
                weightByRow[row] -= at.length * weight;
            }
            if (at.holders.isEmpty()) {
                delete(at);
            } else {
                PrefixNode kept = joinWithOnlyChild(at);
                deepest = deepest == null ? kept : deepest;
            }
            at = above;
        }
        if (deepest != null) {
            deepest.trim();
        }
    }

    /** Sets the weight of the end of a booked prompt that no other booking of its row shares. */
    void weighExclusive(int row, PrefixNode terminal, long weight) {
        for (PrefixNode at = terminal; at != root; ) {
            int position = at.holders.find(row);
            if (at.holders.countAt(position) > 1) {
                return;
            }
            weightByRow[row] += at.length * (weight - at.holders.weightAt(position));
            at.holders.setWeight(position, weight);
            at = parentOf(joinWithOnlyChild(at));
        }
    }

    /**
     * Depth, in blocks, of the longest prefix of a prompt that is active on each row. Allocates nothing.
     *
     * @param depthByRow overwritten for every row of this tree
     * @return the greatest depth
     */
    int project(long[] hashes, int count, int[] depthByRow, int rows) {
        Arrays.fill(depthByRow, 0, rows, 0);
        PrefixNode at = root;
        int depth = 0;
        while (depth < count) {
            PrefixNode next = child(at, hashes[depth]);
            if (next == null) {
                break;
            }
            at.holders.writeExcept(next.holders, depth, depthByRow);
            int same = next.matchLength(hashes, depth, count);
            depth += same;
            at = next;
            if (same < next.length) {
                break;
            }
        }
        at.holders.write(depth, depthByRow);
        return depth;
    }

    private PrefixNode newLeaf(PrefixNode parent, long[] hashes, int from, int to) {
        PrefixNode leaf = obtain();
        leaf.copyRun(hashes, from, to);
        parent.addChild(leaf);
        put(leaf);
        return leaf;
    }

    /**
     * Cuts the first blocks off a node into a new one above it. The node itself stays the lower part, because bookings that end with it
     * and nodes below it refer to it.
     */
    private PrefixNode splitOff(PrefixNode node, int blocks) {
        PrefixNode upper = obtain();
        upper.shareRun(node, blocks);
        upper.holders.copyFrom(node.holders);
        PrefixNode parent = parentOf(node);
        take(node);
        parent.removeChild(node);
        parent.addChild(upper);
        put(upper);
        node.from += blocks;
        node.length -= blocks;
        upper.addChild(node);
        put(node);
        return upper;
    }

    private PrefixNode joinWithOnlyChild(PrefixNode node) {
        PrefixNode child = node.onlyChild();
        if (child == null || node.terminals > 0 || !node.holders.sameAs(child.holders)) {
            return node;
        }
        PrefixNode parent = parentOf(node);
        take(child);
        take(node);
        node.removeChild(child);
        parent.removeChild(node);
        child.prepend(node);
        parent.addChild(child);
        put(child);
        recycle(node);
        return child;
    }

    private void delete(PrefixNode node) {
        take(node);
        parentOf(node).removeChild(node);
        recycle(node);
    }

    private static PrefixNode parentOf(PrefixNode node) {
        PrefixNode parent = node.parent;
        if (parent == null) {
            throw new IllegalStateException("node is not in the tree");
        }
        return parent;
    }

    // ---- the child table

    private int slot(PrefixNode parent, long hash) {
        return (int) (((hash ^ parent.salt) * multiplier) >>> shift);
    }

    private @Nullable PrefixNode child(PrefixNode parent, long hash) {
        int mask = table.length - 1;
        for (int i = slot(parent, hash); ; i = (i + 1) & mask) {
            PrefixNode found = table[i];
            if (found == null || (found.parent == parent && found.firstHash() == hash)) {
                return found;
            }
        }
    }

    private void put(PrefixNode node) {
        if (++nodes * 2 > table.length) {
            grow();
        }
        place(node);
    }

    private void place(PrefixNode node) {
        int mask = table.length - 1;
        int i = slot(parentOf(node), node.firstHash());
        while (table[i] != null) {
            i = (i + 1) & mask;
        }
        table[i] = node;
    }

    private void grow() {
        PrefixNode[] old = table;
        table = new PrefixNode[old.length * 2];
        shift--;
        for (PrefixNode node : old) {
            if (node != null) {
                place(node);
            }
        }
    }

    /** Removes a node from the table and closes the gap, so that no tombstones collect. */
    private void take(PrefixNode node) {
        int mask = table.length - 1;
        int gap = slot(parentOf(node), node.firstHash());
        while (table[gap] != node) {
            gap = (gap + 1) & mask;
        }
        table[gap] = null;
        nodes--;
        for (int i = (gap + 1) & mask; ; i = (i + 1) & mask) {
            PrefixNode moved = table[i];
            if (moved == null) {
                return;
            }
            int home = slot(parentOf(moved), moved.firstHash());
            if (((i - home) & mask) >= ((i - gap) & mask)) {
                table[gap] = moved;
                table[i] = null;
                gap = i;
            }
        }
    }

    // ---- the pool

    private PrefixNode obtain() {
        PrefixNode node = pool;
        if (node == null) {
            return new PrefixNode(salts.nextLong());
        }
        pool = node.nextSibling;
        node.nextSibling = null;
        pooled--;
        return node;
    }

    private void recycle(PrefixNode node) {
        node.clear();
        if (pooled < POOLED_NODES) {
            node.nextSibling = pool;
            pool = node;
            pooled++;
        }
    }

    // ---- for checks

    /** Hands out every node with its depth in nodes. */
    void forEach(ObjIntConsumer<PrefixNode> visitor) {
        visit(root, 0, visitor);
    }

    private void visit(PrefixNode parent, int depth, ObjIntConsumer<PrefixNode> visitor) {
        for (PrefixNode at = parent.firstChild; at != null; at = at.nextSibling) {
            visitor.accept(at, depth);
            visit(at, depth + 1, visitor);
        }
    }

    void checkInvariants() {
        long[] weights = new long[weightByRow.length];
        int[] seen = {0};
        forEach((node, depth) -> {
            seen[0]++;
            checkNode(node);
            for (int i = 0; i < node.holders.size(); i++) {
                weights[node.holders.rowAt(i)] += node.length * node.holders.weightAt(i);
            }
        });
        require(Arrays.equals(weights, weightByRow), "weights are not the sum of the nodes");
        require(seen[0] == nodes, "the table counts " + nodes + " nodes, the tree has " + seen[0]);
    }

    private void checkNode(PrefixNode node) {
        node.holders.checkInvariants();
        require(node.length > 0 && !node.holders.isEmpty(), "empty node");
        require(child(parentOf(node), node.firstHash()) == node, "node is not in the table");
        PrefixNode only = node.onlyChild();
        require(node.terminals > 0 || only == null || !node.holders.sameAs(only.holders), "two nodes that are one");
        int through = node.terminals;
        for (PrefixNode at = node.firstChild; at != null; at = at.nextSibling) {
            through += total(at.holders);
        }
        require(through == total(node.holders), "holders are not those of the children and the ends");
    }

    private static int total(Holders holders) {
        int total = 0;
        for (int i = 0; i < holders.size(); i++) {
            total += holders.countAt(i);
        }
        return total;
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException("prefix tree: " + otherwise);
        }
    }
}

package dev.tandemkv.indexer.internal;

import java.util.Arrays;

/**
 * One lower tier: a flat map of edges, (external hash of the parent or none, local hash) -> external hash of the child, each with the ranks that own
 * it. Engines with different hash roots give one key several children, so a key leads to a chain of edges and a rank follows the one it owns.
 *
 * <p>An edge is four longs (parent, local, child, holder set) and three ints (next of the same key bucket, next of the same child bucket, 1 for an edge
 * from the root). Edge 0 is never used. The writer changes everything inside sections; readers follow the key buckets.
 */
final class Edges implements HolderSets.Users {

    private static final int FIRST = 16;
    private static final int FREE = 2;

    private final Sequence sequence;
    private final ByteCount bytes;
    private final HolderSets holders;
    private final long multiplier;

    private long[] cells = new long[FIRST * 4];
    private int[] links = new int[FIRST * 3];
    private int[] byKey = new int[FIRST];
    private int[] byChild = new int[FIRST];
    private int high = 1;
    private int free;
    private int size;

    Edges(Sequence sequence, ByteCount bytes, HolderSets holders, long multiplier) {
        this.sequence = sequence;
        this.bytes = bytes;
        this.holders = holders;
        this.multiplier = multiplier | 1;
        bytes.add(heldBytes());
    }

    private long heldBytes() {
        return ByteCount.longs(cells.length)
                + ByteCount.ints(links.length)
                + ByteCount.ints(byKey.length)
                + ByteCount.ints(byChild.length);
    }

    int size() {
        return size;
    }

    long parent(int edge) {
        return cells[edge << 2];
    }

    long local(int edge) {
        return cells[(edge << 2) + 1];
    }

    long child(int edge) {
        return cells[(edge << 2) + 2];
    }

    boolean fromRoot(int edge) {
        return links[edge * 3 + 2] == 1;
    }

    @Override
    public int firstSet() {
        return 1;
    }

    @Override
    public int endOfSets() {
        return high;
    }

    @Override
    public boolean hasSet(int edge) {
        return links[edge * 3 + 2] != FREE;
    }

    @Override
    public long holders(int edge) {
        return cells[(edge << 2) + 3];
    }

    @Override
    public void setHolders(int edge, long set) {
        cells[(edge << 2) + 3] = set;
    }

    private int keyBucket(boolean root, long parent, long local, int length) {
        long h = ((root ? ~local : local + parent * multiplier) ^ multiplier >>> 7) * multiplier;
        return (int) (((h ^ (h >>> 32)) * multiplier) >>> 34) & (length - 1);
    }

    private int childBucket(long child, int length) {
        long h = child * multiplier;
        return (int) (((h ^ (h >>> 32)) * multiplier) >>> 34) & (length - 1);
    }

    /** The first edge of a key, or 0. Readers pass through here too; {@link #nextOfKey} goes on. */
    int firstOfKey(boolean root, long parent, long local) {
        int[] buckets = byKey;
        return matching(buckets[keyBucket(root, parent, local, buckets.length)], root, parent, local);
    }

    int nextOfKey(int edge, boolean root, long parent, long local) {
        return matching(links[edge * 3], root, parent, local);
    }

    private int matching(int from, boolean root, long parent, long local) {
        int edge = from;
        for (int steps = size; edge != 0 && steps >= 0; steps--) {
            if (local(edge) == local && fromRoot(edge) == root && (root || parent(edge) == parent)) {
                return edge;
            }
            edge = links[edge * 3];
        }
        return 0;
    }

    /** The edge of a key that a rank owns, or 0. Also for readers. */
    int ownedByKey(int rank, boolean root, long parent, long local) {
        int edge = firstOfKey(root, parent, local);
        for (int steps = size; edge != 0 && steps >= 0; steps--) {
            if (holders.has(holders(edge), rank)) {
                return edge;
            }
            edge = nextOfKey(edge, root, parent, local);
        }
        return 0;
    }

    /** The edge to a child that a rank owns, or 0. */
    int ownedByChild(int rank, long child) {
        for (int edge = byChild[childBucket(child, byChild.length)]; edge != 0; edge = links[edge * 3 + 1]) {
            if (child(edge) == child && holders.has(holders(edge), rank)) {
                return edge;
            }
        }
        return 0;
    }

    boolean owns(int edge, int rank) {
        return holders.has(holders(edge), rank);
    }

    /** The next rank at or after a slot that owns an edge, or -1. */
    int nextOwner(int edge, int from, int slots) {
        return holders.next(holders(edge), from, slots);
    }

    /** Makes a rank an owner of an edge that it does not own, a new one if need be; answers the edge. */
    int own(int rank, boolean root, long parent, long local, long child) {
        int edge = firstOfKey(root, parent, local);
        while (edge != 0 && child(edge) != child) {
            edge = nextOfKey(edge, root, parent, local);
        }
        if (edge == 0) {
            return add(rank, root, parent, local, child);
        }
        holders.reserve();
        sequence.begin();
        setHolders(edge, holders.with(holders(edge), rank));
        sequence.end();
        return edge;
    }

    private int add(int rank, boolean root, long parent, long local, long child) {
        sequence.begin();
        int edge;
        if (free != 0) {
            edge = free;
            free = links[free * 3];
        } else {
            if (high << 2 == cells.length) {
                grow();
            }
            edge = high++;
        }
        int key = keyBucket(root, parent, local, byKey.length);
        int target = childBucket(child, byChild.length);
        cells[edge << 2] = parent;
        cells[(edge << 2) + 1] = local;
        cells[(edge << 2) + 2] = child;
        cells[(edge << 2) + 3] = holders.single(rank);
        links[edge * 3] = byKey[key];
        links[edge * 3 + 1] = byChild[target];
        links[edge * 3 + 2] = root ? 1 : 0;
        byKey[key] = edge;
        byChild[target] = edge;
        size++;
        sequence.end();
        return edge;
    }

    private void grow() {
        int capacity = high * 2;
        bytes.add(-heldBytes());
        cells = Arrays.copyOf(cells, capacity * 4);
        links = Arrays.copyOf(links, capacity * 3);
        int[] keys = new int[capacity];
        int[] targets = new int[capacity];
        for (int edge = 1; edge < high; edge++) {
            int key = keyBucket(fromRoot(edge), parent(edge), local(edge), capacity);
            int target = childBucket(child(edge), capacity);
            links[edge * 3] = keys[key];
            links[edge * 3 + 1] = targets[target];
            keys[key] = edge;
            targets[target] = edge;
        }
        byKey = keys;
        byChild = targets;
        bytes.add(heldBytes());
    }

    /** A rank no longer owns an edge that it owned; an edge without owners goes. */
    void disown(int rank, int edge) {
        sequence.begin();
        setHolders(edge, holders.without(holders(edge), rank));
        if (holders(edge) == 0) {
            unchain(byKey, keyBucket(fromRoot(edge), parent(edge), local(edge), byKey.length), edge, 0);
            unchain(byChild, childBucket(child(edge), byChild.length), edge, 1);
            links[edge * 3] = free;
            links[edge * 3 + 2] = FREE;
            free = edge;
            size--;
            if (size == 0) {
                startSmall();
            }
        }
        sequence.end();
    }

    /** Gives back what a tier that is now empty took. Readers that still follow the old arrays fail their check. */
    private void startSmall() {
        bytes.add(-heldBytes());
        cells = new long[FIRST * 4];
        links = new int[FIRST * 3];
        byKey = new int[FIRST];
        byChild = new int[FIRST];
        high = 1;
        free = 0;
        bytes.add(heldBytes());
    }

    private void unchain(int[] buckets, int bucket, int edge, int link) {
        if (buckets[bucket] == edge) {
            buckets[bucket] = links[edge * 3 + link];
            return;
        }
        int before = buckets[bucket];
        while (links[before * 3 + link] != edge) {
            before = links[before * 3 + link];
        }
        links[before * 3 + link] = links[edge * 3 + link];
    }

    long growthFor(int count) {
        return heldBytes() + 64L * count;
    }
}

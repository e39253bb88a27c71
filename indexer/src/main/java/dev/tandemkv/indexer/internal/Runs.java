package dev.tandemkv.indexer.internal;

import java.util.Arrays;

/**
 * The runs of the tree. A run is a contiguous range of slots inside one chunk without a branch, whose blocks all have the same holders. Per run, four
 * longs that readers see:
 *
 * <pre>
 *   0  start slot | length (0 = free)      1  holder set (see HolderSets)
 *   2  parent slot | continuation run      3  number of further children
 * </pre>
 *
 * and four ints for the writer: the first further child, its neighbours among the further children of its own parent, and the slots reserved
 * behind it. Children hang on the parent's <em>last slot</em>, never on a run id, so splitting and merging re-key nothing: the first child is the
 * continuation, the others (and all children of the root) are in the child table. Run 0 is the root: slot 0, no holders.
 */
final class Runs implements HolderSets.Users {

    private static final int FIRST_CAPACITY = 32;

    private final Sequence sequence;
    private final ByteCount bytes;

    long[] meta = new long[FIRST_CAPACITY * 4];
    private int[] side = new int[FIRST_CAPACITY * 4];

    private int high = 1;
    private int free;
    private int live;

    /** Releases since it was last tried to give memory back. */
    private int released;

    Runs(Sequence sequence, ByteCount bytes) {
        this.sequence = sequence;
        this.bytes = bytes;
        bytes.add(ByteCount.longs(meta.length) + ByteCount.ints(side.length));
        setExtent(0, 0, 1);
    }

    static int startOf(long extent) {
        return (int) (extent >>> 32);
    }

    static int lengthOf(long extent) {
        return (int) extent;
    }

    /** One more than the largest id ever used. */
    int high() {
        return high;
    }

    int live() {
        return live;
    }

    boolean isLive(int run) {
        return length(run) != 0;
    }

    int start(int run) {
        return (int) (meta[run << 2] >>> 32);
    }

    int length(int run) {
        return (int) meta[run << 2];
    }

    int last(int run) {
        return start(run) + length(run) - 1;
    }

    void setExtent(int run, int start, int length) {
        meta[run << 2] = (long) start << 32 | length;
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
    public boolean hasSet(int run) {
        return isLive(run);
    }

    @Override
    public long holders(int run) {
        return meta[(run << 2) + 1];
    }

    @Override
    public void setHolders(int run, long holders) {
        meta[(run << 2) + 1] = holders;
    }

    int parent(int run) {
        return (int) (meta[(run << 2) + 2] >>> 32);
    }

    int continuation(int run) {
        return (int) meta[(run << 2) + 2];
    }

    void setParent(int run, int slot) {
        meta[(run << 2) + 2] = (long) slot << 32 | (meta[(run << 2) + 2] & 0xFFFF_FFFFL);
    }

    void setContinuation(int run, int child) {
        meta[(run << 2) + 2] = meta[(run << 2) + 2] >>> 32 << 32 | child;
    }

    int further(int run) {
        return (int) meta[(run << 2) + 3];
    }

    void setFurther(int run, int count) {
        meta[(run << 2) + 3] = count;
    }

    boolean childless(int run) {
        return continuation(run) == 0 && further(run) == 0;
    }

    int firstFurther(int run) {
        return side[run << 2];
    }

    void setFirstFurther(int run, int child) {
        side[run << 2] = child;
    }

    int nextSibling(int run) {
        return side[(run << 2) + 1];
    }

    int previousSibling(int run) {
        return side[(run << 2) + 2];
    }

    void setNextSibling(int run, int sibling) {
        side[(run << 2) + 1] = sibling;
    }

    void setPreviousSibling(int run, int sibling) {
        side[(run << 2) + 2] = sibling;
    }

    int slack(int run) {
        return side[(run << 2) + 3];
    }

    void setSlack(int run, int slots) {
        side[(run << 2) + 3] = slots;
    }

    /** A fresh id with all writer fields zero; nothing refers to it yet. */
    int allocate() {
        int run;
        if (free != 0) {
            run = free;
            free = (int) meta[(run << 2) + 2];
        } else {
            if (high << 2 == meta.length) {
                grow();
            }
            run = high++;
        }
        live++;
        Arrays.fill(side, run << 2, (run << 2) + 4, 0);
        return run;
    }

    /** Readers may still look at it: the fields they follow stay plausible, and their check fails. */
    void release(int run) {
        setExtent(run, 0, 0);
        meta[(run << 2) + 2] = free;
        free = run;
        live--;
        released++;
    }

    /** Gives memory back once a quarter would do for the ids in use, looked at after many releases only. Outside of sections. */
    void trim() {
        int capacity = meta.length >> 2;
        if (capacity <= FIRST_CAPACITY || live > capacity >> 3 || (live > 0 && released < capacity >> 3)) {
            return;
        }
        released = 0;
        int end = high;
        while (end > 1 && !isLive(end - 1)) {
            end--;
        }
        int smaller = Math.max(FIRST_CAPACITY, end * 2);
        if (smaller > capacity >> 1) {
            return;
        }
        high = end;
        free = 0;
        for (int run = end - 1; run > 0; run--) {
            if (!isLive(run)) {
                meta[(run << 2) + 2] = free;
                free = run;
            }
        }
        resize(smaller);
    }

    /** Most bytes that {@code count} more runs can add. */
    long growthFor(int count) {
        long spare = (meta.length >> 2) - (long) live - 1;
        return count <= spare ? 0 : 48L * Math.max(capacityAfterGrowth() - (meta.length >> 2), count);
    }

    private int capacityAfterGrowth() {
        int capacity = meta.length >> 2;
        return capacity + Math.max(FIRST_CAPACITY, capacity >> 1);
    }

    private void grow() {
        resize(capacityAfterGrowth());
    }

    private void resize(int capacity) {
        long[] other = Arrays.copyOf(meta, capacity << 2);
        bytes.add(8L * (other.length - meta.length) + 4L * ((capacity << 2) - side.length));
        side = Arrays.copyOf(side, capacity << 2);
        sequence.begin();
        meta = other;
        sequence.end();
    }
}

package dev.tandemkv.indexer.internal;

import java.util.Arrays;

/**
 * Where blocks live. A slot has a local hash, an external hash and the id of its run, in three parallel arrays per chunk of 32,768 slots; a chunk is
 * never moved, except that the first one starts small and is doubled. Slot 0 is the root and never a block.
 *
 * <p>Free ranges carry no side structure: both end slots hold the negated length where the run id was, and ranges of one power of two form a
 * doubly linked list through the dead local hashes of their first slots. So freeing coalesces with both neighbours in O(1). Slots reserved behind a
 * run (its slack) hold run id 0.
 *
 * <p>Written by the writer alone. Readers read {@link #locals} and {@link #exts} inside a section check.
 */
final class Slab {

    static final int CHUNK_BITS = 15;
    static final int CHUNK = 1 << CHUNK_BITS;
    static final int MASK = CHUNK - 1;
    /** 26 bits of slot number. */
    static final int MAX_CHUNKS = 1 << (26 - CHUNK_BITS);

    private static final int FIRST = 1 << 10;

    private final Sequence sequence;
    private final ByteCount bytes;

    long[][] locals;
    long[][] exts;
    int[][] runs;

    private int chunks;
    private int freeSlots;
    private int totalSlots;
    /** First slot of the list of free ranges of 2^i to 2^(i+1)-1 slots; 0 = none. */
    private final int[] heads = new int[CHUNK_BITS + 1];

    /** Length of the range that the last {@link #allocate} gave. */
    private int got;

    private long relabelled;

    Slab(Sequence sequence, ByteCount bytes, long expectedBlocks) {
        this.sequence = sequence;
        this.bytes = bytes;
        locals = new long[4][];
        exts = new long[4][];
        runs = new int[4][];
        bytes.add(3 * ByteCount.references(4));
        int first = FIRST;
        while (first < CHUNK && first <= expectedBlocks) {
            first <<= 1;
        }
        addChunk(first);
        freeSlots--;
        unlist(0, first);
        runs[0][0] = 0;
        list(1, first - 1);
    }

    long local(int slot) {
        return locals[slot >>> CHUNK_BITS][slot & MASK];
    }

    long ext(int slot) {
        return exts[slot >>> CHUNK_BITS][slot & MASK];
    }

    /** The run of a live slot; for others meaningless. */
    int run(int slot) {
        return runs[slot >>> CHUNK_BITS][slot & MASK];
    }

    /** Whether a slot number, however obtained, lies in an allocated chunk. */
    boolean exists(int slot) {
        int chunk = slot >>> CHUNK_BITS;
        return chunk < chunks && runs[chunk] != null && (slot & MASK) < runs[chunk].length;
    }

    void setRuns(int slot, int count, int run) {
        relabelled += count;
        int offset = slot & MASK;
        Arrays.fill(runs[slot >>> CHUNK_BITS], offset, offset + count, run);
    }

    void fill(int slot, long[] newLocals, long[] newExts, int from, int count, int run) {
        int chunk = slot >>> CHUNK_BITS;
        int offset = slot & MASK;
        System.arraycopy(newLocals, from, locals[chunk], offset, count);
        System.arraycopy(newExts, from, exts[chunk], offset, count);
        Arrays.fill(runs[chunk], offset, offset + count, run);
    }

    /** How often a slot's run id was rewritten by a split, a merge or a moved boundary. */
    long relabelled() {
        return relabelled;
    }

    /** Slots that hold a block or are reserved. */
    int used() {
        return totalSlots - freeSlots - 1;
    }

    int freeSlots() {
        return freeSlots;
    }

    /** Whether {@code count} more slots can be had at all. */
    boolean canTake(int count) {
        return freeSlots + (long) (MAX_CHUNKS - chunks) * CHUNK + (CHUNK - runs[0].length) >= count;
    }

    /** Most bytes that taking {@code count} slots can add. */
    long growthFor(int count) {
        if (largestFree() >= count) {
            return 0;
        }
        long missing = Math.max(0L, (long) count - freeSlots);
        return (missing / CHUNK + 1) * (20L * CHUNK + 64) + 3 * ByteCount.references(runs.length);
    }

    /**
     * Takes a range of {@code wanted} slots, or a shorter one where that saves memory; its length is {@link #got()}. Slots are not initialised.
     *
     * @return the first slot
     */
    int allocate(int wanted) {
        int want = Math.min(wanted, CHUNK);
        int start = fitting(want);
        if (start == 0) {
            if (freeSlots > totalSlots >> 3 && freeSlots >= 64) {
                start = largest();
            } else {
                grow(want);
                start = fitting(want);
                if (start == 0) {
                    start = largest();
                }
            }
        }
        int length = -run(start);
        unlist(start, length);
        got = Math.min(want, length);
        if (got < length) {
            list(start + got, length - got);
        }
        freeSlots -= got;
        return start;
    }

    int got() {
        return got;
    }

    /** Takes up to {@code wanted} free slots that begin exactly at {@code slot}; answers how many, 0 if the slot is not free. */
    int extend(int slot, int wanted) {
        int offset = slot & MASK;
        int[] chunkRuns = runs[(slot - 1) >>> CHUNK_BITS];
        if (offset == 0 || offset >= chunkRuns.length || chunkRuns[offset] >= 0) {
            return 0;
        }
        int length = -chunkRuns[offset];
        unlist(slot, length);
        int taken = Math.min(length, wanted);
        if (taken < length) {
            list(slot + taken, length - taken);
        }
        freeSlots -= taken;
        return taken;
    }

    void free(int slot, int count) {
        int chunk = slot >>> CHUNK_BITS;
        int start = slot;
        int length = count;
        int[] chunkRuns = runs[chunk];
        if ((start & MASK) > 0 && chunkRuns[(start & MASK) - 1] < 0) {
            int left = -chunkRuns[(start & MASK) - 1];
            start -= left;
            length += left;
            unlist(start, left);
        }
        int end = (slot & MASK) + count;
        if (end < chunkRuns.length && chunkRuns[end] < 0) {
            int right = -chunkRuns[end];
            unlist(slot + count, right);
            length += right;
        }
        freeSlots += count;
        list(start, length);
        if (length == CHUNK && freeSlots - CHUNK > totalSlots >> 2) {
            dropChunk(start);
        }
    }

    private int fitting(int want) {
        int floor = log(want);
        int start = heads[floor];
        for (int tries = 0; start != 0 && tries < 4; tries++) {
            if (-run(start) >= want) {
                return start;
            }
            start = next(start);
        }
        for (int size = floor + 1; size <= CHUNK_BITS; size++) {
            if (heads[size] != 0) {
                return heads[size];
            }
        }
        return 0;
    }

    private int largest() {
        int size = CHUNK_BITS;
        while (heads[size] == 0) {
            size--;
        }
        return heads[size];
    }

    private int largestFree() {
        int start = freeSlots == 0 ? 0 : largest();
        return start == 0 ? 0 : -run(start);
    }

    private static int log(int length) {
        return 31 - Integer.numberOfLeadingZeros(length);
    }

    // Links of a free range, packed into the dead local hash of its first slot: next in the low half, previous in the
    // high one.

    private int next(int start) {
        return (int) local(start);
    }

    private void list(int start, int length) {
        int[] chunkRuns = runs[start >>> CHUNK_BITS];
        int offset = start & MASK;
        chunkRuns[offset] = -length;
        chunkRuns[offset + length - 1] = -length;
        int size = log(length);
        int head = heads[size];
        locals[start >>> CHUNK_BITS][offset] = head;
        if (head != 0) {
            setPrevious(head, start);
        }
        heads[size] = start;
    }

    private void unlist(int start, int length) {
        long links = local(start);
        int next = (int) links;
        int previous = (int) (links >>> 32);
        if (previous == 0) {
            heads[log(length)] = next;
        } else {
            long[] chunk = locals[previous >>> CHUNK_BITS];
            chunk[previous & MASK] = chunk[previous & MASK] >>> 32 << 32 | next;
        }
        if (next != 0) {
            setPrevious(next, previous);
        }
    }

    private void setPrevious(int start, int previous) {
        long[] chunk = locals[start >>> CHUNK_BITS];
        chunk[start & MASK] = (long) previous << 32 | (int) chunk[start & MASK];
    }

    private void grow(int want) {
        int first = runs[0].length;
        if (first < CHUNK) {
            int size = first;
            do {
                size <<= 1;
            } while (size < CHUNK && size - first < want);
            growFirst(size);
        } else {
            addChunk(CHUNK);
        }
    }

    private void growFirst(int size) {
        int old = runs[0].length;
        long[] biggerLocals = Arrays.copyOf(locals[0], size);
        long[] biggerExts = Arrays.copyOf(exts[0], size);
        runs[0] = Arrays.copyOf(runs[0], size);
        sequence.begin();
        locals[0] = biggerLocals;
        exts[0] = biggerExts;
        sequence.end();
        bytes.add(20L * (size - old));
        totalSlots += size - old;
        free(old, size - old);
    }

    private void addChunk(int size) {
        int chunk = 0;
        while (chunk < chunks && runs[chunk] != null) {
            chunk++;
        }
        long[] newLocals = new long[size];
        long[] newExts = new long[size];
        if (chunk == runs.length) {
            int directory = chunk * 2;
            long[][] moreLocals = Arrays.copyOf(locals, directory);
            long[][] moreExts = Arrays.copyOf(exts, directory);
            runs = Arrays.copyOf(runs, directory);
            bytes.add(3 * (ByteCount.references(directory) - ByteCount.references(chunk)));
            sequence.begin();
            locals = moreLocals;
            exts = moreExts;
            sequence.end();
        }
        sequence.begin();
        locals[chunk] = newLocals;
        exts[chunk] = newExts;
        sequence.end();
        runs[chunk] = new int[size];
        chunks = Math.max(chunks, chunk + 1);
        bytes.add(2 * ByteCount.longs(size) + ByteCount.ints(size));
        totalSlots += size;
        freeSlots += size;
        list(chunk << CHUNK_BITS, size);
    }

    /** Gives a chunk without a block back to the heap; a reader that still sees it fails on null and walks again. */
    @SuppressWarnings("NullAway") // a missing chunk is null in all three directories
    private void dropChunk(int start) {
        int chunk = start >>> CHUNK_BITS;
        if (chunk == 0) {
            return;
        }
        unlist(start, CHUNK);
        sequence.begin();
        locals[chunk] = null;
        exts[chunk] = null;
        sequence.end();
        runs[chunk] = null;
        totalSlots -= CHUNK;
        freeSlots -= CHUNK;
        bytes.add(-(2 * ByteCount.longs(CHUNK) + ByteCount.ints(CHUNK)));
    }

    /** Every free range is tagged at both ends, listed once, and has no free neighbour. */
    void checkInvariants() {
        int free = 0;
        for (int size = 0; size <= CHUNK_BITS; size++) {
            int previous = 0;
            for (int start = heads[size]; start != 0; start = next(start)) {
                int length = -run(start);
                Check.that(length > 0 && log(length) == size, "free range in its size class", start);
                Check.that(run(start + length - 1) == -length, "free range tagged at its end", start);
                Check.that((int) (local(start) >>> 32) == previous, "free list linked both ways", start);
                int offset = start & MASK;
                int[] chunkRuns = runs[start >>> CHUNK_BITS];
                Check.that(offset == 0 || chunkRuns[offset - 1] >= 0, "free ranges coalesced", start);
                previous = start;
                free += length;
            }
        }
        Check.that(free == freeSlots, "free slots counted", free);
    }
}

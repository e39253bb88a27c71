package dev.tandemkv.indexer.internal;

import java.util.Arrays;

/**
 * External hash -> slot for the whole partition, the writer's only. An entry is one int: 26 bits of slot and 6 bits of hash; the hash itself is read
 * from the slab, so an entry counts only together with the slot's external hash, and for a rank only if it holds the slot. One hash may stand at
 * several places; {@link #repeats} counts the entries beyond the first of each.
 *
 * <p>Entries lie in segments of 2,048 under an extendible directory (top hash bits): a full segment is split alone, so no event pays for more
 * than that. Linear probing within the segment, load at most 0.69 including tombstones; a segment with many tombstones is rebuilt in place. Only where
 * one hash fills a segment by itself is the segment enlarged instead.
 *
 * <p>The multipliers are random, since the hashes are chosen by strangers.
 */
final class ExtTable {

    private static final int SEGMENT = 1 << 11;
    private static final int SLOT_BITS = 26;
    private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;
    private static final int TOMBSTONE = 1 << SLOT_BITS;
    private static final int MAX_DEPTH = 18;
    private static final int BATCH = 32;

    // Before a segment's entries, where the bounds check has fetched the line already: how many are not empty, how many
    // are live, how many
    // directory bits it answers for.
    private static final int USED = 0;
    private static final int LIVE = 1;
    private static final int DEPTH = 2;
    private static final int HEAD = 4;

    private final ByteCount bytes;
    private final Slab slab;
    private final long first;
    private final long second;

    private int[][] directory;
    private int depth;
    private int segments = 1;
    private long repeats;

    private final long[] hashes = new long[BATCH];
    private int[] gathered = {};
    private long[] gatheredHashes = {};
    private long touched;

    /** Slots found by the last {@link #insert} that carry the same external hash as an inserted one. */
    private int[] twins = new int[8];

    private int twinCount;

    ExtTable(ByteCount bytes, Slab slab, long first, long second, long expectedBlocks) {
        this.bytes = bytes;
        this.slab = slab;
        this.first = first | 1;
        this.second = second | 1;
        int wanted = 0;
        while (wanted < MAX_DEPTH && ((long) SEGMENT * 6 / 10) << wanted < expectedBlocks) {
            wanted++;
        }
        depth = wanted;
        segments = 1 << depth;
        directory = new int[segments][];
        for (int i = 0; i < segments; i++) {
            directory[i] = newSegment(SEGMENT, depth);
        }
        bytes.add(ByteCount.references(segments));
    }

    private int[] newSegment(int size, int segmentDepth) {
        int[] segment = new int[size + HEAD];
        segment[DEPTH] = segmentDepth;
        bytes.add(ByteCount.ints(segment.length));
        return segment;
    }

    private long hash(long ext) {
        long h = ext * first;
        return (h ^ h >>> 32) * second;
    }

    private int[] segment(long h) {
        return directory[(int) (h >>> 1 >>> (63 - depth))];
    }

    /** Index of the entry where a search begins. */
    private static int home(long h, int[] segment) {
        return ((int) (h >>> 26) & (segment.length - HEAD - 1)) + HEAD;
    }

    private static int after(int index, int[] segment) {
        int next = index + 1;
        return next == segment.length ? HEAD : next;
    }

    /** Most entries, tombstones included, before a segment is split or rebuilt: 0.69 of its size. */
    private static int limit(int[] segment) {
        int size = segment.length - HEAD;
        return size - (size >>> 2) - (size >>> 4);
    }

    private static int tag(long h) {
        return (int) (h >>> 20) << SLOT_BITS;
    }

    long repeats() {
        return repeats;
    }

    /** Enters consecutive slots of one chunk, whose external hashes lie in the slab already. What was met of the same hash is in {@link #twin}. */
    void insert(int slot, int count) {
        twinCount = 0;
        long[] exts = slab.exts[slot >>> Slab.CHUNK_BITS];
        int offset = slot & Slab.MASK;
        for (int done = 0; done < count; done += BATCH) {
            int n = Math.min(BATCH, count - done);
            hashBatch(exts, offset + done, n);
            for (int i = 0; i < n; i++) {
                insert(hashes[i], slot + done + i);
            }
        }
    }

    /** Hashes, and loads where each search will begin, without a branch on it: so the cache misses overlap. */
    private void hashBatch(long[] exts, int from, int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            long h = hash(exts[from + i]);
            hashes[i] = h;
            int[] segment = segment(h);
            sum += segment[home(h, segment)];
        }
        touched += sum;
    }

    private void insert(long h, int slot) {
        int[] segment = segment(h);
        if (segment[USED] >= limit(segment)) {
            segment = makeRoom(h);
        }
        int tag = tag(h);
        int target = -1;
        boolean twin = false;
        int i = home(h, segment);
        for (int entry = segment[i]; entry != 0; entry = segment[i]) {
            if ((entry & ~SLOT_MASK) == tag && entry != TOMBSTONE && slab.ext(entry & SLOT_MASK) == slab.ext(slot)) {
                twin = true;
                addTwin(entry & SLOT_MASK);
            }
            if (entry == TOMBSTONE && target < 0) {
                target = i;
            }
            i = after(i, segment);
        }
        if (target < 0) {
            target = i;
            segment[USED]++;
        }
        segment[target] = tag | slot;
        segment[LIVE]++;
        if (twin) {
            repeats++;
        }
    }

    private void addTwin(int slot) {
        if (twinCount == twins.length) {
            twins = Arrays.copyOf(twins, twins.length * 2);
        }
        twins[twinCount++] = slot;
    }

    int twinCount() {
        return twinCount;
    }

    /** A slot that had the hash of an inserted block. */
    int twin(int i) {
        return twins[i];
    }

    /**
     * The slot that a rank holds under this hash as the slab has it, or 0. Slots of {@code [from, to)} count as held.
     */
    int find(long ext, Tree tree, RankState rank, int from, int to) {
        long h = hash(ext);
        int[] segment = segment(h);
        int tag = tag(h);
        for (int i = home(h, segment); segment[i] != 0; i = after(i, segment)) {
            int entry = segment[i];
            int slot = entry & SLOT_MASK;
            if ((entry & ~SLOT_MASK) == tag
                    && slot != 0
                    && slab.ext(slot) == ext
                    && ((tree.holds(slot, rank.slot) && !rank.refuses(slot)) || (slot >= from && slot < to))) {
                return slot;
            }
        }
        return 0;
    }

    /** The next place of an external hash after a position in its probe sequence; the result is a position, or -1. Begin with -1. */
    int next(long ext, int position) {
        long h = hash(ext);
        int[] segment = segment(h);
        int tag = tag(h);
        for (int i = position < 0 ? home(h, segment) : after(position, segment);
                segment[i] != 0;
                i = after(i, segment)) {
            int entry = segment[i];
            if ((entry & ~SLOT_MASK) == tag && entry != TOMBSTONE && slab.ext(entry & SLOT_MASK) == ext) {
                return i;
            }
        }
        return -1;
    }

    int slotAt(long ext, int position) {
        return segment(hash(ext))[position] & SLOT_MASK;
    }

    /** Takes the entries of consecutive slots of one chunk out; their external hashes must still be in the slab. */
    void remove(int slot, int count) {
        long[] exts = slab.exts[slot >>> Slab.CHUNK_BITS];
        int offset = slot & Slab.MASK;
        for (int done = 0; done < count; done += BATCH) {
            int n = Math.min(BATCH, count - done);
            hashBatch(exts, offset + done, n);
            for (int i = 0; i < n; i++) {
                remove(hashes[i], slot + done + i);
            }
        }
    }

    private void remove(long h, int slot) {
        int[] segment = segment(h);
        int wanted = tag(h) | slot;
        int i = home(h, segment);
        while (segment[i] != wanted) {
            Check.that(segment[i] != 0, "external hash listed", slot);
            i = after(i, segment);
        }
        if (segment[after(i, segment)] == 0) {
            // Nothing probes past here: empty, and so are the tombstones that only led here.
            int emptied = 0;
            do {
                segment[i] = 0;
                emptied++;
                i = i == HEAD ? segment.length - 1 : i - 1;
            } while (segment[i] == TOMBSTONE);
            segment[USED] -= emptied;
        } else {
            segment[i] = TOMBSTONE;
        }
        segment[LIVE]--;
        if (repeats > 0 && next(slab.ext(slot), -1) >= 0) {
            repeats--;
        }
        if (segment[LIVE] < SEGMENT >> 4 && segments > 1) {
            join(h);
        }
    }

    /** A segment with room for one more entry of this hash. */
    private int[] makeRoom(long h) {
        while (true) {
            int[] segment = segment(h);
            int size = segment.length - HEAD;
            if (segment[LIVE] < size >> 1) {
                return replace(h, segment, size);
            }
            if (segment[DEPTH] >= MAX_DEPTH) {
                return replace(h, segment, size * 2);
            }
            split(h, segment);
            segment = segment(h);
            if (segment[USED] < limit(segment)) {
                return segment;
            }
        }
    }

    private int[] replace(long h, int[] segment, int newSize) {
        int[] fresh = newSegment(newSize, segment[DEPTH]);
        copyInto(fresh, segment);
        point(h, fresh);
        bytes.add(-ByteCount.ints(segment.length));
        return fresh;
    }

    private void copyInto(int[] target, int[] segment) {
        int n = gather(segment);
        for (int i = 0; i < n; i++) {
            place(target, gatheredHashes[i], gathered[i]);
        }
    }

    /** Collects a segment's entries and their hashes; loads only, so that the misses on the slab overlap. */
    private int gather(int[] segment) {
        int live = segment[LIVE];
        if (gathered.length < live) {
            bytes.add(12L * (live - gathered.length));
            gathered = new int[live];
            gatheredHashes = new long[live];
        }
        int n = 0;
        for (int i = HEAD; i < segment.length; i++) {
            int entry = segment[i];
            if ((entry & SLOT_MASK) != 0) {
                gathered[n++] = entry;
            }
        }
        for (int i = 0; i < n; i++) {
            gatheredHashes[i] = hash(slab.ext(gathered[i] & SLOT_MASK));
        }
        return n;
    }

    private static void place(int[] segment, long h, int entry) {
        int i = home(h, segment);
        while (segment[i] != 0) {
            i = after(i, segment);
        }
        segment[i] = entry;
        segment[USED]++;
        segment[LIVE]++;
    }

    /** Makes all directory entries that the segment answers for point to it. */
    private void point(long h, int[] segment) {
        int own = segment[DEPTH];
        int span = 1 << (depth - own);
        int from = (int) (h >>> 1 >>> (63 - depth)) & -span;
        Arrays.fill(directory, from, from + span, segment);
    }

    private void split(long h, int[] segment) {
        int own = segment[DEPTH];
        if (own == depth) {
            doubleDirectory();
        }
        int[] low = newSegment(segment.length - HEAD, own + 1);
        int[] high = newSegment(segment.length - HEAD, own + 1);
        int n = gather(segment);
        for (int i = 0; i < n; i++) {
            long other = gatheredHashes[i];
            place(((other >>> (63 - own)) & 1) == 0 ? low : high, other, gathered[i]);
        }
        long bit = 1L << (63 - own);
        point(h & ~bit, low);
        point(h | bit, high);
        segments++;
        bytes.add(-ByteCount.ints(segment.length));
    }

    private void doubleDirectory() {
        int[][] bigger = new int[directory.length * 2][];
        for (int i = 0; i < bigger.length; i++) {
            bigger[i] = directory[i >> 1];
        }
        bytes.add(ByteCount.references(bigger.length) - ByteCount.references(directory.length));
        directory = bigger;
        depth++;
    }

    /** Puts a nearly empty segment and its buddy together, so that the table follows what it holds. */
    private void join(long h) {
        int[] segment = segment(h);
        int own = segment[DEPTH];
        if (own == 0) {
            return;
        }
        int[] buddy = segment(h ^ (1L << (64 - own)));
        if (buddy[DEPTH] != own || buddy[LIVE] > SEGMENT >> 2) {
            return;
        }
        int[] joined = newSegment(SEGMENT, own - 1);
        copyInto(joined, segment);
        copyInto(joined, buddy);
        point(h, joined);
        segments--;
        bytes.add(-ByteCount.ints(segment.length) - ByteCount.ints(buddy.length));
        if (depth > 0 && segments <= directory.length >> 2) {
            halveDirectory();
        }
    }

    private void halveDirectory() {
        for (int i = 0; i < directory.length; i += 2) {
            if (directory[i] != directory[i + 1]) {
                return;
            }
        }
        int[][] smaller = new int[directory.length >> 1][];
        for (int i = 0; i < smaller.length; i++) {
            smaller[i] = directory[i << 1];
        }
        bytes.add(ByteCount.references(smaller.length) - ByteCount.references(directory.length));
        directory = smaller;
        depth--;
    }

    /** Most bytes that {@code count} more entries can add. */
    long growthFor(int count) {
        long splits = Math.min(count, segments) + count / (SEGMENT / 4) + 1L;
        return splits * ByteCount.ints(SEGMENT + HEAD) + 4L * directory.length;
    }

    /** Every live slot has one entry, found where its hash sends a search. */
    void checkInvariants(int blocks) {
        long live = 0;
        for (int i = 0; i < directory.length; i++) {
            int[] segment = directory[i];
            if (i > 0 && directory[i - 1] == segment) {
                continue;
            }
            int count = 0;
            int used = 0;
            for (int j = HEAD; j < segment.length; j++) {
                used += segment[j] == 0 ? 0 : 1;
                int slot = segment[j] & SLOT_MASK;
                if (slot != 0) {
                    count++;
                    Check.that(segment(hash(slab.ext(slot))) == segment, "external hash in its segment", slot);
                }
            }
            Check.that(count == segment[LIVE] && used == segment[USED], "segment counts", i);
            live += count;
        }
        Check.that(live == blocks, "one external hash per block", live);
    }

    boolean lists(int slot) {
        long ext = slab.ext(slot);
        for (int at = next(ext, -1); at >= 0; at = next(ext, at)) {
            if (slotAt(ext, at) == slot) {
                return true;
            }
        }
        return false;
    }

    /** Keeps the loads of the first phase from being dropped as unused. */
    long touched() {
        return touched;
    }
}

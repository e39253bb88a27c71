package dev.tandemkv.indexer.internal;

import java.util.random.RandomGenerator;

/**
 * The tree's structure: which runs there are, how they hang together, who holds them. Knows nothing of events, policies or copies. Writer only;
 * every change that a reader can reach is a section, and each leaves the tree saying the same or the intended new thing.
 *
 * <p>Invariants: a run is live or its length is 0; a run with neither holders nor children ends in a pinned slot; a run's children hang on its last
 * slot; every block of a live run has one entry in the external hash table. Neighbouring runs with equal holders are merged where a change made
 * them so and the slots are adjacent, but that is economy, not an invariant.
 */
final class Tree {

    /** Slots reserved behind a short run that continues a leaf: decoding appends block by block. */
    private static final int SLACK = 16;
    /** An appended piece up to this long gets slack. */
    private static final int SHORT_APPEND = 4;

    final Sequence sequence = new Sequence();
    final ByteCount bytes = new ByteCount();
    final Slab slab;
    final Runs runs;
    final HolderSets holders;
    final ChildTable children;
    final ExtTable exts;
    private final Links links;
    /** Slots that stay in the tree though nobody holds them, with the number of reasons. */
    private final LongCounts pins;

    Tree(RandomGenerator random, long expectedBlocks) {
        slab = new Slab(sequence, bytes, expectedBlocks);
        runs = new Runs(sequence, bytes);
        holders = new HolderSets(sequence, bytes);
        children = new ChildTable(sequence, bytes, runs, random.nextLong(), random.nextLong());
        exts = new ExtTable(bytes, slab, random.nextLong(), random.nextLong(), expectedBlocks);
        pins = new LongCounts(bytes, random.nextLong());
        links = new Links(sequence, slab, runs, children);
    }

    // ---- Questions

    boolean holds(int slot, int rank) {
        return holders.has(runs.holders(slab.run(slot)), rank);
    }

    /** Whether a slot number, however obtained, is a block of the tree. */
    boolean isLive(int slot) {
        if (slot == 0 || !slab.exists(slot)) {
            return false;
        }
        int run = slab.run(slot);
        return run > 0 && run < runs.high() && Integer.compareUnsigned(slot - runs.start(run), runs.length(run)) < 0;
    }

    /** The slot before this one on the path from the root; 0 = the root itself. */
    int parentOf(int slot) {
        int run = slab.run(slot);
        return slot == runs.start(run) ? runs.parent(run) : slot - 1;
    }

    /** The child block of a slot by local hash, or 0. */
    int childOf(int slot, long local) {
        int run = slab.run(slot);
        if (slot != runs.last(run)) {
            return slab.local(slot + 1) == local ? slot + 1 : 0;
        }
        int child = runs.continuation(run);
        if (child != 0 && slab.local(runs.start(child)) == local) {
            return runs.start(child);
        }
        if (runs.further(run) == 0) {
            return 0;
        }
        return Runs.startOf(children.find(slot, local, runs.meta));
    }

    /** How many of the next local hashes the run of {@code slot} matches, {@code slot} being a match. */
    int matchFrom(int slot, long[] locals, int from, int count) {
        int run = slab.run(slot);
        int length = Math.min(runs.last(run) - slot + 1, count);
        int offset = slot & Slab.MASK;
        return Match.length(locals, from, slab.locals[slot >>> Slab.CHUNK_BITS], offset, length);
    }

    int matchExts(int slot, long[] ext, int from, int count) {
        return Match.length(ext, from, slab.exts[slot >>> Slab.CHUNK_BITS], slot & Slab.MASK, count);
    }

    boolean isPinned(int slot) {
        return !pins.isEmpty() && pins.get(slot) != 0;
    }

    // ---- Membership

    /** The rank now holds consecutive slots of one run that it did not hold. Merges upward only. */
    void join(int rank, int slot, int count) {
        int run = slab.run(slot);
        int before = slot - runs.start(run);
        if (before > 0) {
            split(run, before);
            run = slab.run(slot);
        }
        if (count < runs.length(run)) {
            int above = adjacentParent(run);
            if (above != 0 && holders.equalWith(runs.holders(run), rank, runs.holders(above))) {
                moveHeadUp(above, run, count);
                return;
            }
            split(run, count);
            run = slab.run(slot);
        }
        holders.reserve();
        sequence.begin();
        runs.setHolders(run, holders.with(runs.holders(run), rank));
        sequence.end();
        releaseSlack(run);
        mergeIntoParent(run);
    }

    /** The rank no longer holds consecutive slots of one run that it held. Frees what nobody needs any more. */
    void leave(int rank, int slot, int count) {
        int run = slab.run(slot);
        int before = slot - runs.start(run);
        boolean tail = before + count == runs.length(run);
        long set = runs.holders(run);
        if (tail && runs.childless(run) && pins.isEmpty() && holders.isOnly(set, rank)) {
            if (before > 0) {
                shorten(run, before);
            } else {
                int parent = runs.parent(run);
                unlinkAndFree(run);
                reclaim(slab.run(parent));
            }
            return;
        }
        if (tail && before > 0 && moveTailDown(run, before, rank)) {
            return;
        }
        if (before == 0 && !tail) {
            int above = adjacentParent(run);
            if (above != 0 && holders.equalWith(runs.holders(above), rank, set)) {
                moveHeadUp(above, run, count);
                return;
            }
        }
        leaveInside(rank, slot, count);
    }

    private void leaveInside(int rank, int slot, int count) {
        int run = slab.run(slot);
        int before = slot - runs.start(run);
        if (before > 0) {
            split(run, before);
            run = slab.run(slot);
        }
        if (count < runs.length(run)) {
            split(run, count);
            run = slab.run(slot);
        }
        dropHolder(run, rank);
    }

    /** Takes a rank off a whole run, then frees or merges it. */
    void dropHolder(int run, int rank) {
        sequence.begin();
        runs.setHolders(run, holders.without(runs.holders(run), rank));
        sequence.end();
        if (runs.holders(run) == 0 && runs.childless(run)) {
            reclaim(run);
        } else {
            int slot = runs.start(run);
            mergeContinuation(run);
            mergeIntoParent(slab.run(slot));
        }
    }

    // ---- Growth

    /**
     * Appends fresh blocks under a slot that is the last of its run (or the root), held by one rank. No child of the slot may begin with the first
     * local hash.
     *
     * @return the first slot taken; the blocks may lie in several pieces, each the continuation of the one before
     */
    int append(int rank, int parent, long[] ext, long[] local, int from, int count, Twins twins) {
        int at = from;
        int end = from + count;
        int last = parent;
        int first = 0;
        if (parent != 0) {
            int taken = extendInPlace(rank, parent, ext, local, from, count, twins);
            if (taken > 0) {
                first = parent + 1;
                at += taken;
                last += taken;
            }
        }
        while (at < end) {
            boolean shortLeaf =
                    end - at <= SHORT_APPEND && last != 0 && runs.childless(slab.run(last)) && holds(last, rank);
            int start = slab.allocate(end - at + (shortLeaf ? SLACK : 0));
            int length = Math.min(slab.got(), end - at);
            int run = runs.allocate();
            slab.fill(start, local, ext, at, length, run);
            runs.setExtent(run, start, length);
            runs.setHolders(run, holders.single(rank));
            runs.setParent(run, last);
            runs.setContinuation(run, 0);
            runs.setFurther(run, 0);
            int slack = slab.got() - length;
            if (slack > 0) {
                slab.setRuns(start + length, slack, 0);
                runs.setSlack(run, slack);
            }
            exts.insert(start, length);
            twins.collect(exts);
            releaseSlack(slab.run(last));
            links.add(run);
            first = first == 0 ? start : first;
            last = start + length - 1;
            at += length;
        }
        return first;
    }

    /** A run of this rank alone, without children, grows into its slack or into free slots right behind it. */
    private int extendInPlace(int rank, int last, long[] ext, long[] local, int from, int count, Twins twins) {
        int run = slab.run(last);
        if (!runs.childless(run) || !holders.isOnly(runs.holders(run), rank)) {
            return 0;
        }
        int slack = runs.slack(run);
        int taken = slack > 0 ? Math.min(slack, count) : slab.extend(last + 1, count);
        if (taken == 0) {
            return 0;
        }
        if (slack > 0) {
            runs.setSlack(run, slack - taken);
        }
        slab.fill(last + 1, local, ext, from, taken, run);
        exts.insert(last + 1, taken);
        twins.collect(exts);
        sequence.begin();
        runs.setExtent(run, runs.start(run), runs.length(run) + taken);
        sequence.end();
        return taken;
    }

    // ---- Splitting and merging. The smaller side gets the new run id, so that any order of changes is linear.

    /** Cuts a run after {@code keep} of its slots, so that children can hang there or the holders can differ. */
    void split(int run, int keep) {
        int start = runs.start(run);
        int length = runs.length(run);
        holders.reserve();
        int fresh = runs.allocate();
        sequence.begin();
        runs.setHolders(fresh, holders.copy(runs.holders(run)));
        if (length - keep <= keep) {
            runs.setExtent(fresh, start + keep, length - keep);
            runs.setParent(fresh, start + keep - 1);
            runs.setContinuation(fresh, runs.continuation(run));
            runs.setFurther(fresh, runs.further(run));
            runs.setExtent(run, start, keep);
            runs.setContinuation(run, fresh);
            runs.setFurther(run, 0);
        } else {
            runs.setExtent(fresh, start, keep);
            runs.setParent(fresh, runs.parent(run));
            runs.setContinuation(fresh, run);
            runs.setFurther(fresh, 0);
            links.replaceForReaders(run, fresh);
            runs.setExtent(run, start + keep, length - keep);
            runs.setParent(run, start + keep - 1);
        }
        sequence.end();
        if (runs.start(fresh) != start) {
            slab.setRuns(start + keep, length - keep, fresh);
            runs.setFirstFurther(fresh, runs.firstFurther(run));
            runs.setFirstFurther(run, 0);
            runs.setSlack(fresh, runs.slack(run));
            runs.setSlack(run, 0);
        } else {
            slab.setRuns(start, keep, fresh);
            links.replaceSibling(run, fresh);
        }
    }

    /** The parent run if this one is its only child and lies right behind it in the same chunk, else 0. */
    private int adjacentParent(int run) {
        int parent = runs.parent(run);
        if (parent == 0 || parent + 1 != runs.start(run) || (runs.start(run) & Slab.MASK) == 0) {
            return 0;
        }
        int above = slab.run(parent);
        return runs.continuation(above) == run && runs.further(above) == 0 ? above : 0;
    }

    void mergeIntoParent(int run) {
        int above = adjacentParent(run);
        if (above != 0 && holders.equal(runs.holders(above), runs.holders(run))) {
            merge(above, run);
        }
    }

    void mergeContinuation(int run) {
        int below = runs.continuation(run);
        if (below != 0) {
            mergeIntoParent(below);
        }
    }

    private void merge(int above, int below) {
        int start = runs.start(above);
        int head = runs.length(above);
        int tail = runs.length(below);
        int gone;
        sequence.begin();
        if (tail <= head) {
            gone = below;
            runs.setExtent(above, start, head + tail);
            runs.setContinuation(above, runs.continuation(below));
            runs.setFurther(above, runs.further(below));
        } else {
            gone = above;
            links.replaceForReaders(above, below);
            runs.setExtent(below, start, head + tail);
            runs.setParent(below, runs.parent(above));
        }
        sequence.end();
        if (gone == below) {
            slab.setRuns(start + head, tail, above);
            runs.setFirstFurther(above, runs.firstFurther(below));
            runs.setSlack(above, runs.slack(below));
        } else {
            slab.setRuns(start, head, below);
            links.replaceSibling(above, below);
        }
        holders.release(runs.holders(gone));
        runs.release(gone);
    }

    /** The first slots of a run pass to its adjacent parent run. */
    private void moveHeadUp(int above, int run, int count) {
        int start = runs.start(run);
        sequence.begin();
        runs.setExtent(above, runs.start(above), runs.length(above) + count);
        runs.setExtent(run, start + count, runs.length(run) - count);
        runs.setParent(run, start + count - 1);
        sequence.end();
        slab.setRuns(start, count, above);
    }

    /** The last slots of a run pass to the adjacent only child, if that one has the same holders without this rank. */
    private boolean moveTailDown(int run, int keep, int rank) {
        int below = runs.continuation(run);
        if (below == 0
                || adjacentParent(below) != run
                || !holders.equalWith(runs.holders(below), rank, runs.holders(run))) {
            return false;
        }
        int start = runs.start(run) + keep;
        int moved = runs.length(run) - keep;
        sequence.begin();
        runs.setExtent(run, runs.start(run), keep);
        runs.setExtent(below, start, runs.length(below) + moved);
        runs.setParent(below, start - 1);
        sequence.end();
        slab.setRuns(start, moved, below);
        return true;
    }

    // ---- Freeing

    void pin(int slot) {
        pins.set(slot, pins.get(slot) + 1);
    }

    /** Takes one reason away; the caller reclaims. */
    void unpin(int slot) {
        pins.set(slot, pins.get(slot) - 1);
    }

    /** Frees a run that nobody holds and nothing hangs on, as far as it is not pinned; then its ancestors alike. */
    void reclaim(int from) {
        int run = from;
        while (run != 0 && runs.holders(run) == 0 && runs.childless(run)) {
            int keep = pinnedLength(run);
            if (keep == runs.length(run)) {
                return;
            }
            if (keep > 0) {
                shorten(run, keep);
                return;
            }
            int parent = runs.parent(run);
            unlinkAndFree(run);
            run = slab.run(parent);
        }
    }

    private int pinnedLength(int run) {
        if (pins.isEmpty()) {
            return 0;
        }
        int start = runs.start(run);
        int length = runs.length(run);
        while (length > 0 && pins.get(start + length - 1) == 0) {
            length--;
        }
        return length;
    }

    private void shorten(int run, int keep) {
        int start = runs.start(run);
        int length = runs.length(run);
        sequence.begin();
        runs.setExtent(run, start, keep);
        sequence.end();
        exts.remove(start + keep, length - keep);
        slab.free(start + keep, length - keep + runs.slack(run));
        runs.setSlack(run, 0);
    }

    /** Takes a childless run out of the tree; its parent may be left without holders or children. */
    private void unlinkAndFree(int run) {
        int parent = runs.parent(run);
        int above = slab.run(parent);
        int start = runs.start(run);
        links.unlink(run);
        int length = runs.length(run);
        exts.remove(start, length);
        slab.free(start, length + runs.slack(run));
        holders.release(runs.holders(run));
        runs.release(run);
        runs.trim();
        children.trim();
        if (above != 0) {
            mergeContinuation(above);
        }
    }

    private void releaseSlack(int run) {
        int slack = runs.slack(run);
        if (slack > 0) {
            runs.setSlack(run, 0);
            slab.free(runs.start(run) + runs.length(run), slack);
        }
    }

    /** Most bytes that storing {@code count} blocks can add to the tree. */
    long growthFor(int count) {
        int newRuns = 8 + count / 1_024;
        return slab.growthFor(count + SLACK)
                + runs.growthFor(newRuns)
                + holders.growthFor(newRuns)
                + children.growthFor(newRuns)
                + exts.growthFor(count);
    }

    /** Blocks in the tree. */
    long blocks() {
        long count = 0;
        for (int run = 1; run < runs.high(); run++) {
            count += runs.length(run);
        }
        return count;
    }

    LongCounts pins() {
        return pins;
    }
}

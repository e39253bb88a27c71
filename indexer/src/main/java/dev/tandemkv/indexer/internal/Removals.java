package dev.tandemkv.indexer.internal;

import dev.tandemkv.indexer.EventOutcome;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Applies device removals. Blocks that lie side by side in one run leave as one stretch, and the neighbour of the last block is tried before the
 * hash table: engines evict along the chain. Writer only.
 */
final class Removals {

    private final Tree tree;
    private final Entries entries;

    /** Detached blocks of one run that still have to leave; no blocks if the count is 0. */
    private int pending;

    private int pendingCount;

    /** Hash table searches, as a measure of work. */
    long searches;

    Removals(Tree tree, Entries entries) {
        this.tree = tree;
        this.entries = entries;
    }

    EventOutcome apply(RankState rank, long[] exts) {
        boolean unknown = false;
        Set<Long> scrubbed = entries.truncates() && exts.length > 1 ? new HashSet<>() : null;
        pendingCount = 0;
        int at = 0;
        while (at < exts.length) {
            long ext = exts[at++];
            int slot = locate(rank, ext);
            if (slot == 0) {
                unknown |= scrubbed == null || !scrubbed.contains(ext);
            } else {
                remove(rank, ext, slot, scrubbed);
                at += sweep(rank, exts, at);
            }
        }
        flush(rank);
        return unknown ? EventOutcome.BLOCK_NOT_FOUND : EventOutcome.OK;
    }

    /** Gathers the blocks that go on beside those about to leave, in either direction, where one entry is one block; answers how many. */
    private int sweep(RankState rank, long[] exts, int from) {
        if (pendingCount == 0 || rank.hasNames() || rank.countsAny()) {
            return 0;
        }
        int run = tree.slab.run(pending);
        long[] chunk = tree.slab.exts[pending >>> Slab.CHUNK_BITS];
        int offset = pending & Slab.MASK;
        int most = Math.min(pending - tree.runs.start(run), exts.length - from);
        int n = 0;
        while (n < most && chunk[offset - 1 - n] == exts[from + n]) {
            n++;
        }
        pending -= n;
        if (n == 0) {
            int after = pending + pendingCount;
            most = Math.min(tree.runs.last(run) - after + 1, exts.length - from);
            n = most > 0 ? tree.matchExts(after, exts, from, most) : 0;
        }
        pendingCount += n;
        return n;
    }

    private void remove(RankState rank, long ext, int slot, @Nullable Set<Long> scrubbed) {
        if (rank.traits.countsCopies() && entries.takeCopy(rank, ext)) {
            return;
        }
        if (!entries.detach(rank, ext, slot)) {
            return;
        }
        if (entries.truncates()) {
            rank.expectedRemoval = tree.parentOf(slot);
            entries.leave(rank, slot, scrubbed);
        } else if (pendingCount > 0 && slot == pending - 1 && sameRun(slot)) {
            pending--;
            pendingCount++;
        } else if (pendingCount > 0 && slot == pending + pendingCount && sameRun(slot)) {
            pendingCount++;
        } else {
            flush(rank);
            pending = slot;
            pendingCount = 1;
        }
    }

    private boolean sameRun(int slot) {
        return tree.slab.run(slot) == tree.slab.run(pending);
    }

    private void flush(RankState rank) {
        if (pendingCount > 0) {
            rank.expectedRemoval = tree.parentOf(pending);
            entries.leave(rank, pending, pendingCount);
            pendingCount = 0;
        }
    }

    /** Where the rank holds a block, or 0; a block that is about to leave is not held. */
    private int locate(RankState rank, long ext) {
        if (pendingCount > 0) {
            int beside = besidePending(rank, ext);
            if (beside != 0) {
                return beside;
            }
        } else if (tree.isLive(rank.expectedRemoval) && holdsAs(rank, ext, rank.expectedRemoval)) {
            return rank.expectedRemoval;
        }
        searches++;
        int slot = entries.find(rank, ext);
        if (pendingCount > 0 && slot >= pending && slot < pending + pendingCount) {
            // That place was held under another name, or just left; the hash may still be held elsewhere.
            flush(rank);
            slot = entries.find(rank, ext);
        }
        return slot;
    }

    /** The block before or after those about to leave, if it has this hash; 0 otherwise. */
    private int besidePending(RankState rank, long ext) {
        int run = tree.slab.run(pending);
        int before = pending - 1;
        if (pending == tree.runs.start(run)) {
            before = tree.runs.parent(run);
            if (before != 0 && holdsAs(rank, ext, before)) {
                return before;
            }
        } else if (tree.slab.ext(before) == ext && !rank.refuses(before)) {
            // Of the same run, so the rank holds it.
            return before;
        }
        int after = pending + pendingCount;
        return after <= tree.runs.last(run) && tree.slab.ext(after) == ext && !rank.refuses(after) ? after : 0;
    }

    private boolean holdsAs(RankState rank, long ext, int slot) {
        return tree.slab.ext(slot) == ext && tree.holds(slot, rank.slot) && !rank.refuses(slot);
    }
}

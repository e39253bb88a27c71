package dev.tandemkv.indexer.internal;

import dev.tandemkv.indexer.EventOutcome;
import dev.tandemkv.indexer.event.KvEvent;

/**
 * Applies device stores. Blocks that are in the tree are handled a matched stretch at a time, the rest is appended at once; block by block only where
 * a hash of the rank may stand at another place already. Writer only.
 */
final class Stores {

    private final Tree tree;
    private final Entries entries;
    private final Twins twins = new Twins();

    // The event being applied.
    private boolean adds;
    private boolean fresh;
    private boolean moved;

    /** External hashes of a rank stored at another place than before. */
    long moves;

    Stores(Tree tree, Entries entries) {
        this.tree = tree;
        this.entries = entries;
    }

    EventOutcome apply(RankState rank, KvEvent.Stored event) {
        long[] exts = event.externalHashes();
        Long parent = event.parent();
        if (exts.length == 0) {
            return EventOutcome.OK;
        }
        boolean healed = false;
        int place = 0;
        if (parent != null) {
            if (contains(exts, parent)) {
                return EventOutcome.INVALID_SEQUENCE;
            }
            place = entries.find(rank, parent);
            if (place == 0) {
                place = entries.heal(rank, parent);
                if (place == 0) {
                    return EventOutcome.PARENT_NOT_FOUND;
                }
                healed = true;
            }
        }
        adds = parent != null || rank.traits.rootStoresAddCopies();
        fresh = false;
        moved = false;
        walk(rank, place, exts, event.localHashes());
        if (moved) {
            return EventOutcome.MOVED;
        }
        return healed ? EventOutcome.HEALED : fresh ? EventOutcome.OK : EventOutcome.DUPLICATE;
    }

    private static boolean contains(long[] exts, long ext) {
        for (long other : exts) {
            if (other == ext) {
                return true;
            }
        }
        return false;
    }

    private void walk(RankState rank, int parent, long[] exts, long[] locals) {
        int place = parent;
        int at = 0;
        while (at < exts.length) {
            int next = tree.childOf(place, locals[at]);
            if (next == 0) {
                if (!append(rank, place, exts, locals, at, exts.length - at)) {
                    singly(rank, place, exts, locals, at, exts.length - at);
                }
                return;
            }
            int matched = tree.matchFrom(next, locals, at, exts.length - at);
            int done = tree.holds(next, rank.slot)
                    ? repeat(rank, next, exts, at, matched)
                    : cover(rank, next, exts, at, matched);
            if (done > 0) {
                place = next + done - 1;
                at += done;
            }
            if (done < matched) {
                place = singly(rank, place, exts, locals, at, matched - done);
                if (place < 0) {
                    return;
                }
                at += matched - done;
            }
        }
        if (place != 0) {
            tree.mergeContinuation(tree.slab.run(place));
        }
    }

    /** Blocks of one run that the rank holds; answers how many of them were plainly held before. */
    private int repeat(RankState rank, int slot, long[] exts, int from, int count) {
        if (rank.hasNames() || tree.matchExts(slot, exts, from, count) < count) {
            return 0;
        }
        if (rank.traits.countsCopies()) {
            for (int i = from; i < from + count; i++) {
                entries.countAgain(rank, exts[i], adds);
            }
        }
        return count;
    }

    /** Blocks of one run that the rank does not hold; answers how many it plainly took hold of. */
    private int cover(RankState rank, int slot, long[] exts, int from, int count) {
        if (tree.exts.repeats() > 0) {
            return 0;
        }
        fresh = true;
        int plain = rank.hasNames() ? 0 : tree.matchExts(slot, exts, from, count);
        while (plain < count) {
            long ext = exts[from + plain];
            if (entries.find(rank, ext, slot, slot + plain) != 0) {
                break;
            }
            if (tree.slab.ext(slot + plain) != ext) {
                entries.addName(rank, ext, slot + plain, false);
            }
            plain++;
        }
        if (plain > 0) {
            entries.join(rank, slot, plain);
            recall(rank, exts, from, plain);
        }
        return plain;
    }

    private void recall(RankState rank, long[] exts, int from, int count) {
        for (int i = from; i < from + count && rank.remembersAny(); i++) {
            entries.recall(rank, exts[i]);
        }
    }

    private int singly(RankState rank, int parent, long[] exts, long[] locals, int from, int count) {
        int place = parent;
        for (int i = from; i < from + count && place >= 0; i++) {
            place = one(rank, place, exts, locals, i);
        }
        return place;
    }

    /**
     * Stores one block, wherever its hash stood before.
     *
     * @return its slot, or -1 if giving up the old place broke the chain above this one
     */
    private int one(RankState rank, int parent, long[] exts, long[] locals, int i) {
        long ext = exts[i];
        int slot = tree.childOf(parent, locals[i]);
        int old = entries.find(rank, ext);
        if (old != 0 && old == slot) {
            if (rank.traits.countsCopies()) {
                entries.countAgain(rank, ext, adds);
            }
            return slot;
        }
        fresh = true;
        if (old != 0) {
            if (!move(rank, ext, old, parent)) {
                return -1;
            }
            slot = tree.childOf(parent, locals[i]);
        }
        if (slot == 0) {
            append(rank, parent, exts, locals, i, 1);
            return tree.childOf(parent, locals[i]);
        }
        entries.add(rank, ext, slot);
        if (rank.remembersAny()) {
            entries.recall(rank, ext);
        }
        return slot;
    }

    /** Gives up the old place of a hash that comes under {@code parent}; false if the chain above went with it. */
    private boolean move(RankState rank, long ext, int old, int parent) {
        moves++;
        moved |= tree.parentOf(old) != parent;
        if (parent != 0) {
            tree.pin(parent);
        }
        if (entries.giveUp(rank, ext, old)) {
            entries.leave(rank, old, null);
        }
        if (parent == 0) {
            return true;
        }
        tree.unpin(parent);
        if (entries.truncates() && !tree.holds(parent, rank.slot)) {
            tree.reclaim(tree.slab.run(parent));
            moved = true;
            return false;
        }
        return true;
    }

    /**
     * Appends blocks that are not in the tree, all at once.
     *
     * @return false, and nothing changed, if a hash of theirs stands at another place of the rank or twice in the event
     */
    private boolean append(RankState rank, int parent, long[] exts, long[] locals, int from, int count) {
        fresh = true;
        if (parent != 0) {
            int run = tree.slab.run(parent);
            if (parent != tree.runs.last(run)) {
                tree.split(run, parent - tree.runs.start(run) + 1);
            }
        }
        if (rank.hasNames() && namesAny(rank, exts, from, count)) {
            return false;
        }
        twins.clear();
        int first = tree.append(rank.slot, parent, exts, locals, from, count, twins);
        rank.held += count;
        if (!twins.isEmpty() && holdsTwin(rank)) {
            takeBack(rank, first, count);
            return false;
        }
        recall(rank, exts, from, count);
        return true;
    }

    private static boolean namesAny(RankState rank, long[] exts, int from, int count) {
        OwnNames names = rank.names;
        for (int i = from; names != null && i < from + count; i++) {
            if (names.find(exts[i]) != 0) {
                return true;
            }
        }
        return false;
    }

    private boolean holdsTwin(RankState rank) {
        for (int i = 0; i < twins.size(); i++) {
            if (tree.holds(twins.older(i), rank.slot) && !rank.refuses(twins.older(i))) {
                return true;
            }
        }
        return false;
    }

    /** Takes an append back, which may lie in several pieces, from its end. */
    private void takeBack(RankState rank, int first, int count) {
        int run = tree.slab.run(first);
        int piece = Math.min(count, tree.runs.last(run) - first + 1);
        if (piece < count) {
            takeBack(rank, tree.runs.start(tree.runs.continuation(run)), count - piece);
        }
        entries.leave(rank, first, piece);
    }
}

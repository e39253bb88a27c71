package dev.tandemkv.indexer.internal;

import dev.tandemkv.indexer.HolePolicy;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What one rank holds, entry by entry: an external hash at one place. Puts together the tree's bits, the rank's own names, its copy counts and its
 * memory. Writer only.
 */
final class Entries {

    private final Tree tree;
    private final HolePolicy holes;
    private final long multiplier;
    private final int memoryBound;

    /** Memberships taken under another hash than the slab's. */
    long conflicts;
    /** Parents put back because a store proved them held. */
    long healed;

    private int[] ranges = new int[16];

    Entries(Tree tree, HolePolicy holes, int memoryBound, long multiplier) {
        this.tree = tree;
        this.holes = holes;
        this.memoryBound = memoryBound;
        this.multiplier = multiplier;
    }

    boolean truncates() {
        return holes == HolePolicy.TRUNCATE;
    }

    /** The slot where the rank holds a block under this hash, or 0. */
    int find(RankState rank, long ext) {
        return find(rank, ext, 0, 0);
    }

    /** As above; slots of {@code [from, to)} count as held under the slab's hash. */
    int find(RankState rank, long ext, int from, int to) {
        OwnNames names = rank.names;
        if (names != null && !names.isEmpty()) {
            int node = names.find(ext);
            if (node != 0) {
                return names.slot(node);
            }
        }
        return tree.exts.find(ext, tree, rank, from, to);
    }

    OwnNames namesOf(RankState rank) {
        OwnNames names = rank.names;
        if (names == null) {
            names = new OwnNames(tree.sequence, tree.bytes, multiplier);
            tree.sequence.begin();
            rank.names = names;
            tree.sequence.end();
        }
        return names;
    }

    private LongCounts copiesOf(RankState rank) {
        LongCounts copies = rank.copies;
        if (copies == null) {
            copies = new LongCounts(tree.bytes, multiplier);
            rank.copies = copies;
        }
        return copies;
    }

    // ---- Taking hold

    /** The rank takes hold of a block that is in the tree, under a hash that it holds nowhere. */
    void add(RankState rank, long ext, int slot) {
        boolean canonical = tree.slab.ext(slot) == ext;
        if (!tree.holds(slot, rank.slot)) {
            if (!canonical) {
                addName(rank, ext, slot, false);
            }
            join(rank, slot, 1);
        } else if (canonical) {
            namesOf(rank).setCanonical(slot, true);
        } else {
            addName(rank, ext, slot, true);
        }
    }

    /** {@code canonicalToo} counts for the slot's first own name only. */
    void addName(RankState rank, long ext, int slot, boolean canonicalToo) {
        conflicts++;
        namesOf(rank).add(ext, slot, canonicalToo);
    }

    void join(RankState rank, int slot, int count) {
        tree.join(rank.slot, slot, count);
        rank.held += count;
    }

    // ---- Copies

    /** A held block was announced again by a source that counts copies. */
    void countAgain(RankState rank, long ext, boolean adds) {
        LongCounts copies = copiesOf(rank);
        int value = copies.get(ext);
        int count = value == 0 ? 1 : value < 0 ? ~value : value;
        boolean mayBeShort = value < 0 || !adds;
        if (adds && count < Integer.MAX_VALUE) {
            count++;
        }
        copies.set(ext, mayBeShort ? ~count : count == 1 ? 0 : count);
    }

    /** Sets a block's copies outright, at a restore. */
    void setCopies(RankState rank, long ext, int value) {
        copiesOf(rank).set(ext, value == 1 ? 0 : value);
    }

    /** Takes one copy away; answers whether others remain. */
    boolean takeCopy(RankState rank, long ext) {
        LongCounts copies = rank.copies;
        int value = copies == null ? 0 : copies.get(ext);
        int count = value < 0 ? ~value : value;
        if (copies == null || count <= 1) {
            return false;
        }
        count--;
        copies.set(ext, value < 0 ? ~count : count == 1 ? 0 : count);
        return true;
    }

    private boolean mayBeShort(RankState rank, long ext) {
        return rank.copies != null && rank.copies.get(ext) < 0;
    }

    private void forgetCopies(RankState rank, long ext) {
        if (rank.countsAny()) {
            copiesOf(rank).set(ext, 0);
        }
    }

    // ---- Memory

    /** A block was stored again: it is no longer remembered, and keeps its doubt. */
    void recall(RankState rank, long ext) {
        Memory memory = rank.memory;
        int slot = memory == null ? 0 : memory.remove(ext);
        if (slot != 0) {
            copiesOf(rank).set(ext, ~1);
            tree.unpin(slot);
            tree.reclaim(tree.slab.run(slot));
        }
    }

    /** Puts a remembered parent back with one copy; answers its slot, or 0 if nothing proves it held. */
    int heal(RankState rank, long ext) {
        Memory memory = rank.memory;
        int slot = memory == null || !rank.traits.countsCopies() ? 0 : memory.find(ext);
        if (slot == 0 || (truncates() && !holdsAllAbove(rank, slot))) {
            return 0;
        }
        add(rank, ext, slot);
        recall(rank, ext);
        healed++;
        return slot;
    }

    private boolean holdsAllAbove(RankState rank, int slot) {
        int parent = tree.parentOf(slot);
        while (parent != 0) {
            if (!tree.holds(parent, rank.slot)) {
                return false;
            }
            parent = tree.runs.parent(tree.slab.run(parent));
        }
        return true;
    }

    private void remember(RankState rank, long ext, int slot) {
        if (memoryBound == 0) {
            return;
        }
        Memory memory = rank.memory;
        if (memory == null) {
            memory = new Memory(tree.bytes, multiplier);
            rank.memory = memory;
        }
        memory.add(ext, slot);
        tree.pin(slot);
        if (memory.size() > memoryBound) {
            int oldest = memory.removeOldest();
            tree.unpin(oldest);
            tree.reclaim(tree.slab.run(oldest));
        }
    }

    // ---- Letting go

    /**
     * Takes out an entry whose last copy went; where its count may have been short it is remembered.
     *
     * @return whether the rank no longer holds the place under any hash: the caller then makes it leave
     */
    boolean detach(RankState rank, long ext, int slot) {
        if (rank.traits.countsCopies() && mayBeShort(rank, ext)) {
            remember(rank, ext, slot);
        }
        return giveUp(rank, ext, slot);
    }

    /** The same for an entry whose hash moved to another place: not remembered. */
    boolean giveUp(RankState rank, long ext, int slot) {
        forgetCopies(rank, ext);
        OwnNames names = rank.names;
        if (names == null || names.isEmpty()) {
            return true;
        }
        int node = names.find(ext);
        if (node != 0) {
            return !names.remove(node);
        }
        if (names.head(slot) != 0) {
            names.setCanonical(slot, false);
            return false;
        }
        return true;
    }

    /**
     * Takes out, at a restore, what the recipe says is lacking. All of it before any place is left, since under {@link HolePolicy#TRUNCATE} a place
     * takes its suffix along, of which nothing would be remembered.
     */
    void letGo(RankState rank, long[] exts) {
        int[] slots = new int[exts.length];
        Arrays.setAll(slots, i -> find(rank, exts[i]));
        for (int i = 0; i < slots.length; i++) {
            if (slots[i] != 0 && !detach(rank, exts[i], slots[i])) {
                slots[i] = 0;
            }
        }
        for (int slot : slots) {
            if (tree.isLive(slot) && tree.holds(slot, rank.slot)) {
                leave(rank, slot, null);
            }
        }
    }

    /** The rank lets go of consecutive slots of one run whose entries are detached. */
    void leave(RankState rank, int slot, int count) {
        rank.held -= count;
        tree.leave(rank.slot, slot, count);
    }

    /** Lets go of a detached place as the hole policy wants it. */
    void leave(RankState rank, int slot, @Nullable Set<Long> scrubbed) {
        if (truncates()) {
            leaveWithSuffix(rank, slot, scrubbed);
        } else {
            leave(rank, slot, 1);
        }
    }

    private void leaveWithSuffix(RankState rank, int slot, @Nullable Set<Long> scrubbed) {
        int count = suffixRanges(rank, slot);
        for (int i = count - 1; i >= 0; i--) {
            int start = ranges[i * 2];
            int length = ranges[i * 2 + 1];
            for (int s = start; s < start + length; s++) {
                if (s != slot) {
                    scrub(rank, s, scrubbed);
                }
            }
            leave(rank, start, length);
        }
    }

    /** Collects where the rank's blocks from a slot on lie, ancestors first. */
    private int suffixRanges(RankState rank, int slot) {
        Runs runs = tree.runs;
        int count = addRange(0, slot, runs.last(tree.slab.run(slot)) - slot + 1);
        for (int i = 0; i < count; i++) {
            int run = tree.slab.run(ranges[i * 2]);
            count = addIfHeld(rank, count, runs.continuation(run));
            for (int child = runs.firstFurther(run); child != 0; child = runs.nextSibling(child)) {
                count = addIfHeld(rank, count, child);
            }
        }
        return count;
    }

    private int addIfHeld(RankState rank, int count, int run) {
        return run != 0 && tree.holders.has(tree.runs.holders(run), rank.slot)
                ? addRange(count, tree.runs.start(run), tree.runs.length(run))
                : count;
    }

    private int addRange(int count, int start, int length) {
        if (count * 2 == ranges.length) {
            ranges = Arrays.copyOf(ranges, ranges.length * 2);
        }
        ranges[count * 2] = start;
        ranges[count * 2 + 1] = length;
        return count + 1;
    }

    /** Drops all entries of a place, with all copies, remembering none. */
    private void scrub(RankState rank, int slot, @Nullable Set<Long> scrubbed) {
        OwnNames names = rank.names;
        int head = names == null ? 0 : names.head(slot);
        boolean canonical = !rank.refuses(slot);
        while (names != null && head != 0) {
            drop(rank, names.ext(head), scrubbed);
            names.remove(head);
            head = names.head(slot);
        }
        if (canonical) {
            drop(rank, tree.slab.ext(slot), scrubbed);
        }
    }

    private void drop(RankState rank, long ext, @Nullable Set<Long> scrubbed) {
        forgetCopies(rank, ext);
        if (scrubbed != null) {
            scrubbed.add(ext);
        }
    }

    /** Takes the rank out of the whole tree, in time linear in the number of runs. */
    void clear(RankState rank) {
        Runs runs = tree.runs;
        for (int run = 1; run < runs.high() && rank.held > 0; run++) {
            if (runs.isLive(run) && tree.holders.has(runs.holders(run), rank.slot)) {
                rank.held -= runs.length(run);
                tree.dropHolder(run, rank.slot);
            }
        }
        rank.expectedRemoval = 0;
        forgetNames(rank);
        forgetCounts(rank);
    }

    private void forgetNames(RankState rank) {
        OwnNames names = rank.names;
        if (names != null) {
            tree.sequence.begin();
            rank.names = null;
            tree.sequence.end();
            tree.bytes.add(-names.heldBytes());
        }
    }

    /** Copies become exactly one, and nothing is remembered. */
    void forgetCounts(RankState rank) {
        if (rank.copies != null) {
            tree.bytes.add(-rank.copies.heldBytes());
            rank.copies = null;
        }
        Memory memory = rank.memory;
        if (memory != null) {
            rank.memory = null;
            int[] slots = new int[memory.size()];
            memory.copyTo(new long[slots.length], slots);
            for (int slot : slots) {
                tree.unpin(slot);
                tree.reclaim(tree.slab.run(slot));
            }
            tree.bytes.add(-memory.heldBytes());
        }
    }

    /** Most bytes that a store of {@code count} blocks can add for the rank alone. */
    long growthFor(RankState rank, int count) {
        long growth = rank.names == null ? 1_024 + 64L * count : rank.names.growthFor(count);
        if (rank.traits.countsCopies()) {
            growth += rank.copies == null ? 1_024 + 48L * count : rank.copies.growthFor(count);
        }
        return growth;
    }
}

package dev.tandemkv.indexer.internal;

/** The self-check of a whole index: what must hold between any two events, whatever came before. Linear, for tests. */
final class Invariants {

    private final Tree tree;
    private final Entries entries;
    private final RankDirectory directory;

    Invariants(Tree tree, Entries entries, RankDirectory directory) {
        this.tree = tree;
        this.entries = entries;
        this.directory = directory;
    }

    void check() {
        tree.slab.checkInvariants();
        int live = 0;
        int slots = 0;
        int blocks = 0;
        int listed = 0;
        for (int run = 1; run < tree.runs.high(); run++) {
            if (tree.runs.isLive(run)) {
                live++;
                blocks += tree.runs.length(run);
                slots += tree.runs.length(run) + tree.runs.slack(run);
                listed += tree.runs.further(run);
                checkRun(run);
            }
        }
        listed += tree.runs.further(0);
        checkFurther(0);
        Check.that(live == tree.runs.live(), "live runs counted", live);
        Check.that(slots == tree.slab.used(), "used slots are blocks or slack", slots);
        Check.that(listed == tree.children.size(), "child table holds the further children only", listed);
        tree.exts.checkInvariants(blocks);
        long records = 0;
        for (int run = 1; run < tree.runs.high(); run++) {
            records += tree.holders.wide && tree.runs.isLive(run) && tree.runs.holders(run) < 0 ? 1 : 0;
        }
        Check.that(records <= tree.holders.liveRecords(), "holder records owned", records);
        for (RankState rank : directory.all()) {
            checkRank(rank);
        }
    }

    private void checkRun(int run) {
        Runs runs = tree.runs;
        int start = runs.start(run);
        int last = runs.last(run);
        Check.that(start >>> Slab.CHUNK_BITS == last >>> Slab.CHUNK_BITS, "run inside one chunk", run);
        for (int slot = start; slot <= last; slot++) {
            Check.that(tree.slab.run(slot) == run, "slot labelled with its run", slot);
            Check.that(tree.exts.lists(slot), "block in the external hash table", slot);
        }
        int parent = runs.parent(run);
        Check.that(parent == 0 || tree.isLive(parent), "parent in the tree", run);
        int above = tree.slab.run(parent);
        Check.that(runs.last(above) == parent, "children hang on the last slot", run);
        Check.that(tree.childOf(parent, tree.slab.local(start)) == start, "run found from its parent", run);
        Check.that(runs.continuation(run) != 0 || runs.further(run) == 0, "first child is the continuation", run);
        Check.that(
                runs.holders(run) != 0 || !runs.childless(run) || tree.isPinned(last),
                "an unheld run leads to something",
                run);
        Check.that(runs.slack(run) == 0 || runs.childless(run), "only leaves have slack", run);
        checkFurther(run);
    }

    private void checkFurther(int run) {
        int count = 0;
        int previous = 0;
        for (int child = tree.runs.firstFurther(run); child != 0; child = tree.runs.nextSibling(child)) {
            Check.that(tree.slab.run(tree.runs.parent(child)) == run, "sibling of the same parent", child);
            Check.that(tree.runs.previousSibling(child) == previous, "siblings linked both ways", child);
            previous = child;
            count++;
        }
        Check.that(count == tree.runs.further(run), "further children counted", run);
    }

    private void checkRank(RankState rank) {
        long held = 0;
        for (int run = 1; run < tree.runs.high(); run++) {
            if (tree.runs.isLive(run) && tree.holders.has(tree.runs.holders(run), rank.slot)) {
                held += tree.runs.length(run);
            }
        }
        Check.that(held == rank.held, "held blocks counted", rank.slot);
        if (rank.copies != null) {
            rank.copies.forEachKey(ext -> Check.that(entries.find(rank, ext) != 0, "copies of a held block", ext));
        }
        Memory memory = rank.memory;
        if (memory != null) {
            long[] exts = new long[memory.size()];
            int[] slots = new int[exts.length];
            memory.copyTo(exts, slots);
            for (int i = 0; i < exts.length; i++) {
                Check.that(tree.isLive(slots[i]) && tree.isPinned(slots[i]), "remembered block in the tree", slots[i]);
                Check.that(entries.find(rank, exts[i]) == 0, "remembered block not held", slots[i]);
            }
        }
    }
}

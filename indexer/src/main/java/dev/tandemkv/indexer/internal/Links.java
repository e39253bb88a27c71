package dev.tandemkv.indexer.internal;

/**
 * Who is whose child. Readers go down by the continuation and the child table; the writer also needs all children of a run, so the further ones form a
 * doubly linked list that only it knows. A run (but not the root) that has children always has a continuation.
 *
 * <p>Writer only; changes that readers can reach are sections, or are made inside the caller's where said.
 */
final class Links {

    private final Sequence sequence;
    private final Slab slab;
    private final Runs runs;
    private final ChildTable children;

    Links(Sequence sequence, Slab slab, Runs runs, ChildTable children) {
        this.sequence = sequence;
        this.slab = slab;
        this.runs = runs;
        this.children = children;
    }

    /** Publishes a complete run under the parent slot that it names. */
    void add(int run) {
        int parent = runs.parent(run);
        int above = slab.run(parent);
        if (parent != 0 && runs.childless(above)) {
            sequence.begin();
            runs.setContinuation(above, run);
            sequence.end();
            return;
        }
        children.reserve();
        sequence.begin();
        children.put(parent, slab.local(runs.start(run)), run);
        runs.setFurther(above, runs.further(above) + 1);
        sequence.end();
        int head = runs.firstFurther(above);
        runs.setNextSibling(run, head);
        runs.setPreviousSibling(run, 0);
        if (head != 0) {
            runs.setPreviousSibling(head, run);
        }
        runs.setFirstFurther(above, run);
    }

    /** Takes a childless run out. */
    void unlink(int run) {
        int parent = runs.parent(run);
        int above = slab.run(parent);
        sequence.begin();
        if (runs.continuation(above) == run) {
            runs.setContinuation(above, 0);
        } else {
            removeFurther(above, parent, run);
        }
        if (parent != 0 && runs.continuation(above) == 0 && runs.further(above) > 0) {
            int next = runs.firstFurther(above);
            removeFurther(above, parent, next);
            runs.setContinuation(above, next);
        }
        sequence.end();
    }

    private void removeFurther(int above, int parent, int run) {
        children.remove(parent, slab.local(runs.start(run)), run);
        runs.setFurther(above, runs.further(above) - 1);
        int before = runs.previousSibling(run);
        int after = runs.nextSibling(run);
        if (before == 0) {
            runs.setFirstFurther(above, after);
        } else {
            runs.setNextSibling(before, after);
        }
        if (after != 0) {
            runs.setPreviousSibling(after, before);
        }
    }

    /** Whoever refers to a run as its child refers to another that begins at the same slot. Inside a section. */
    void replaceForReaders(int run, int by) {
        int parent = runs.parent(run);
        int above = slab.run(parent);
        if (runs.continuation(above) == run) {
            runs.setContinuation(above, by);
        } else {
            children.replace(parent, slab.local(runs.start(run)), run, by);
        }
    }

    /** The writer's half of {@link #replaceForReaders}, once the other run is labelled and has its parent. */
    void replaceSibling(int run, int by) {
        int above = slab.run(runs.parent(by));
        if (runs.continuation(above) == by) {
            return;
        }
        int before = runs.previousSibling(run);
        int after = runs.nextSibling(run);
        runs.setPreviousSibling(by, before);
        runs.setNextSibling(by, after);
        if (before == 0) {
            runs.setFirstFurther(above, by);
        } else {
            runs.setNextSibling(before, by);
        }
        if (after != 0) {
            runs.setPreviousSibling(after, by);
        }
        runs.setPreviousSibling(run, 0);
        runs.setNextSibling(run, 0);
    }
}

package dev.tandemkv.indexer.internal;

import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;

/**
 * The lock-free reader: all scores of one prompt. Runs on any thread; every attempt is a walk with plain reads over whatever the writer is doing, and
 * counts only if no section lay in it. After a few spoiled attempts it answers what a walk had established when the counter last stood still: a true
 * lower bound.
 *
 * <p>A rank's score is written once: when it drops out of the active set, or at the end.
 */
final class Lookup {

    private static final int ATTEMPTS = 16;
    private static final int SPINS = 64;

    private final Tree tree;
    private final RankDirectory ranks;
    private final LowerTiers tiers;
    private final LongAdder retries = new LongAdder();

    Lookup(Tree tree, RankDirectory ranks, LowerTiers tiers) {
        this.tree = tree;
        this.ranks = ranks;
        this.tiers = tiers;
    }

    long retries() {
        return retries.sum();
    }

    /** Device scores, and where asked the lower tiers behind them. */
    void find(long[] locals, int length, ScoreScratch out, boolean tiered) {
        Sequence sequence = tree.sequence;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            long since = sequence.read();
            for (int spin = 0; (since & 1) != 0 && spin < SPINS; spin++) {
                Thread.onSpinWait();
                since = sequence.read();
            }
            if ((since & 1) == 0 && attempt(locals, length, out, tiered) && sequence.unchanged(since)) {
                return;
            }
            retries.increment();
        }
        findSettled(locals, length, out, tiered);
    }

    /** One walk; false if it met something that cannot be. */
    private boolean attempt(long[] locals, int length, ScoreScratch out, boolean tiered) {
        // An index without lower tiers, the usual one, needs none of their preparations.
        boolean asksTiers = tiered && !tiers.isEmpty();
        try {
            ranks.publishTo(out, asksTiers);
            if (tree.holders.wide) {
                walkWide(locals, length, out);
            } else {
                walkNarrow(locals, length, out);
            }
            if (out.wantLast || asksTiers) {
                out.resolveLast(tree.slab, ranks.states());
            }
            if (asksTiers) {
                tiers.find(locals, length, out, ranks);
            }
            return true;
        } catch (ArrayIndexOutOfBoundsException | NullPointerException torn) {
            return false;
        }
    }

    /**
     * The writer changes something all the time: shorter and shorter prefixes, which take less time, until one can be answered. What is held of a
     * prefix is a lower bound of what is held of the whole.
     */
    private void findSettled(long[] locals, int length, ScoreScratch out, boolean tiered) {
        Sequence sequence = tree.sequence;
        for (int shorter = length >> 1; shorter > 0; shorter >>= 1) {
            long since = sequence.read();
            if ((since & 1) == 0 && attempt(locals, shorter, out, tiered) && sequence.unchanged(since)) {
                return;
            }
        }
        // Nothing matched, but the slots have names: a caller may ask whose a slot is, whatever it scored.
        ranks.publishTo(out, false);
        out.begin(0, false);
    }

    private void walkNarrow(long[] locals, int length, ScoreScratch out) {
        if (out.words == 0) {
            return;
        }
        out.touched[0] = 0;
        if (length == 0) {
            return;
        }
        long[] meta = tree.runs.meta;
        long child = tree.children.find(0, locals[0], meta);
        if (child == 0) {
            return;
        }
        int run = (int) child;
        long[][] slab = tree.slab.locals;
        int[] scores = out.blocks;
        boolean places = out.needsPlaces();
        int depth = 0;
        int place = 0;
        long active = meta[(run << 2) + 1];
        out.touched[0] = active;
        while (active != 0) {
            int start = Runs.startOf(child);
            int most = Math.min(Runs.lengthOf(meta[run << 2]), length - depth);
            if (most <= 0) {
                throw new ArrayIndexOutOfBoundsException();
            }
            int matched = Match.length(locals, depth, slab[start >>> Slab.CHUNK_BITS], start & Slab.MASK, most);
            depth += matched;
            place = start + matched - 1;
            if (matched < most || depth == length) {
                break;
            }
            child = nextRun(meta, slab, run, place, locals[depth]);
            if (child == 0) {
                break;
            }
            run = (int) child;
            long holders = meta[(run << 2) + 1];
            for (long gone = active & ~holders; gone != 0; gone &= gone - 1) {
                int slot = Long.numberOfTrailingZeros(gone);
                scores[slot] = depth;
                if (places) {
                    out.last[slot] = place;
                }
            }
            active &= holders;
        }
        for (long rest = active; rest != 0; rest &= rest - 1) {
            int slot = Long.numberOfTrailingZeros(rest);
            scores[slot] = depth;
            if (places) {
                out.last[slot] = place;
            }
        }
    }

    /**
     * The child of a wholly matched run that goes on with a local hash, as {@link ChildTable#find} gives it. The table comes first: its cache
     * miss then overlaps with those of the continuation, and where it has the child those are not waited for.
     */
    private long nextRun(long[] meta, long[][] slab, int run, int place, long local) {
        if ((int) meta[(run << 2) + 3] != 0) {
            long child = tree.children.find(place, local, meta);
            if (child != 0) {
                return child;
            }
        }
        int continuation = (int) meta[(run << 2) + 2];
        if (continuation != 0) {
            int first = Runs.startOf(meta[continuation << 2]);
            if (slab[first >>> Slab.CHUNK_BITS][first & Slab.MASK] == local) {
                return (long) first << 32 | continuation;
            }
        }
        return 0;
    }

    private void walkWide(long[] locals, int length, ScoreScratch out) {
        int words = out.words;
        Arrays.fill(out.touched, 0, words, 0L);
        if (length == 0) {
            return;
        }
        long[] meta = tree.runs.meta;
        long child = tree.children.find(0, locals[0], meta);
        if (child == 0) {
            return;
        }
        int run = (int) child;
        ActiveSet active = out.active;
        active.begin(tree.holders, meta[(run << 2) + 1], out);
        long[][] slab = tree.slab.locals;
        int depth = 0;
        int place = 0;
        while (!active.isEmpty()) {
            int start = Runs.startOf(child);
            int most = Math.min(Runs.lengthOf(meta[run << 2]), length - depth);
            if (most <= 0) {
                throw new ArrayIndexOutOfBoundsException();
            }
            int matched = Match.length(locals, depth, slab[start >>> Slab.CHUNK_BITS], start & Slab.MASK, most);
            depth += matched;
            place = start + matched - 1;
            if (matched < most || depth == length) {
                break;
            }
            child = nextRun(meta, slab, run, place, locals[depth]);
            if (child == 0) {
                break;
            }
            run = (int) child;
            active.narrow(tree.holders, meta[(run << 2) + 1], out, depth, place);
        }
        active.finish(out, depth, place);
    }

    /** The best few, without a score per rank. */
    void findBest(long[] locals, int length, BestScratch out) {
        Sequence sequence = tree.sequence;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            long since = sequence.read();
            for (int spin = 0; (since & 1) != 0 && spin < SPINS; spin++) {
                Thread.onSpinWait();
                since = sequence.read();
            }
            if ((since & 1) == 0 && attemptBest(locals, length, out) && sequence.unchanged(since)) {
                return;
            }
            retries.increment();
        }
        for (int shorter = length >> 1; shorter > 0; shorter >>= 1) {
            long since = sequence.read();
            if ((since & 1) == 0 && attemptBest(locals, shorter, out) && sequence.unchanged(since)) {
                return;
            }
        }
        out.size = 0;
    }

    private boolean attemptBest(long[] locals, int length, BestScratch out) {
        try {
            ranks.publishTo(out);
            walkBest(locals, length, out);
            return true;
        } catch (ArrayIndexOutOfBoundsException | NullPointerException torn) {
            return false;
        }
    }

    private void walkBest(long[] locals, int length, BestScratch out) {
        if (length == 0) {
            return;
        }
        long[] meta = tree.runs.meta;
        long child = tree.children.find(0, locals[0], meta);
        if (child == 0) {
            return;
        }
        int run = (int) child;
        long[][] slab = tree.slab.locals;
        int depth = 0;
        boolean any = out.begin(tree.holders, meta[(run << 2) + 1]);
        while (any) {
            int start = Runs.startOf(child);
            int most = Math.min(Runs.lengthOf(meta[run << 2]), length - depth);
            if (most <= 0) {
                throw new ArrayIndexOutOfBoundsException();
            }
            int matched = Match.length(locals, depth, slab[start >>> Slab.CHUNK_BITS], start & Slab.MASK, most);
            depth += matched;
            if (matched < most || depth == length) {
                break;
            }
            child = nextRun(meta, slab, run, start + matched - 1, locals[depth]);
            if (child == 0) {
                break;
            }
            run = (int) child;
            any = out.narrow(tree.holders, meta[(run << 2) + 1], depth);
        }
        out.finish(depth);
    }
}

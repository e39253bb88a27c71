package dev.tandemkv.benchmarks.jcstress;

import static dev.tandemkv.benchmarks.jcstress.IndexUnderChange.A;
import static dev.tandemkv.benchmarks.jcstress.IndexUnderChange.B;
import static dev.tandemkv.benchmarks.jcstress.IndexUnderChange.blocks;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.BestOverlaps;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.event.KvEvent;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: a lookup that races with the writer answers what was held at one instant, or less where it gave up; never more, never another rank's, never an
 * exception (which jcstress reports as an error).
 */
public final class PrefixIndexReads {

    /** Moves and back, so that a reader's one look falls among them. */
    private static final int ROUNDS = 16;

    private PrefixIndexReads() {}

    /**
     * B joins the first half of A's run and leaves it: a split, a merge. Guards against publishing the holders of the short run with the length of the long
     * one (B: 4), or the length before the holders.
     */
    @JCStressTest
    @State
    @Outcome(id = "4, [012]", expect = ACCEPTABLE, desc = "one instant, or one between the blocks of an event")
    @Outcome(id = "[012], [012]", expect = ACCEPTABLE_INTERESTING, desc = "gave up: a lower bound")
    @Outcome(expect = FORBIDDEN, desc = "more than was held, or torn")
    public static class SplitAndMerge {
        private static final long[] PROMPT = blocks(1, 4);
        private final IndexUnderChange races = new IndexUnderChange().store(A, 0, PROMPT);

        @Actor
        public void writer() {
            for (int i = 0; i < ROUNDS; i++) {
                races.store(B, 0, 1, 2);
                races.evict(B, 1, 2);
            }
        }

        @Actor
        public void reader(II_Result r) {
            races.find(PROMPT);
            r.r1 = races.ofA(PROMPT);
            r.r2 = races.ofB(PROMPT);
        }
    }

    /** A run grows in place, then a second rank joins it. Guards against the length being seen before the slots are filled, and against early holders. */
    @JCStressTest
    @State
    @Outcome(id = "[234], 0", expect = ACCEPTABLE, desc = "before the join")
    @Outcome(id = "4, [0124]", expect = ACCEPTABLE, desc = "after the growth")
    @Outcome(id = "[012], [012]", expect = ACCEPTABLE_INTERESTING, desc = "gave up: a lower bound")
    @Outcome(expect = FORBIDDEN, desc = "more than was held, or torn")
    public static class AppendAndJoin {
        private static final long[] PROMPT = blocks(1, 4);
        private final IndexUnderChange races = new IndexUnderChange().store(A, 0, 1, 2);

        @Actor
        public void writer() {
            races.store(A, 2, 3, 4);
            races.store(B, 0, 1, 2, 3, 4);
        }

        @Actor
        public void reader(II_Result r) {
            races.find(PROMPT);
            r.r1 = races.ofA(PROMPT);
            r.r2 = races.ofB(PROMPT);
        }
    }

    /** A loses block 1, then gains block 4. Guards against a walk that sees the old beginning and the new end: no run is wrong alone, the sum is. */
    @JCStressTest
    @State
    @Outcome(id = "[03]", expect = ACCEPTABLE, desc = "one instant")
    @Outcome(id = "[12]", expect = ACCEPTABLE_INTERESTING, desc = "gave up: a lower bound")
    @Outcome(expect = FORBIDDEN, desc = "more than was held, or torn")
    public static class LoseFirstGainLast {
        private static final long[] PROMPT = blocks(1, 4);
        private final IndexUnderChange races =
                new IndexUnderChange().store(A, 0, 1, 2, 3).store(B, 0, 1).store(B, 1, 2);

        @Actor
        public void writer() {
            for (int i = 0; i < ROUNDS; i++) {
                races.evict(A, 1);
                races.store(A, 3, 4);
                races.evict(A, 4);
                races.store(A, 0, 1);
            }
        }

        @Actor
        public void reader(I_Result r) {
            races.find(PROMPT);
            r.r1 = races.ofA(PROMPT);
        }
    }

    /**
     * A chain is removed and another takes its place in memory. The prompt begins like the old chain and ends like the new one. Guards against slots and run
     * ids that are filled anew while a reader of the old run still trusts them.
     */
    @JCStressTest
    @State
    @Outcome(id = "[02]", expect = ACCEPTABLE, desc = "one instant")
    @Outcome(id = "1", expect = ACCEPTABLE_INTERESTING, desc = "gave up: a lower bound")
    @Outcome(expect = FORBIDDEN, desc = "two chains in one answer")
    public static class BlockSlotsReused {
        private static final long[] OLD = {1, 2, 13, 14};
        private static final long[] NEW = {21, 22, 3, 4};
        private static final long[] PROMPT = {1, 2, 3, 4};
        private final IndexUnderChange races = new IndexUnderChange().store(A, 0, OLD);

        @Actor
        public void writer() {
            for (int i = 0; i < ROUNDS; i++) {
                races.evict(A, OLD);
                races.store(A, 0, NEW);
                races.evict(A, NEW);
                races.store(A, 0, OLD);
            }
        }

        @Actor
        public void reader(I_Result r) {
            races.find(PROMPT);
            r.r1 = races.ofA(PROMPT);
        }
    }

    /** A leaves and another rank gets its slot. Guards against the new rank inheriting what the old one held, under either identity. */
    @JCStressTest
    @State
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "nothing inherited")
    @Outcome(expect = FORBIDDEN, desc = "blocks of another rank")
    public static class RankSlotReused {
        private static final WorkerRank NEXT = WorkerRank.of(9);
        private static final long[] PROMPT = blocks(1, 4);
        private final IndexUnderChange races =
                new IndexUnderChange().store(A, 0, PROMPT).store(B, 0, 1, 2);

        @Actor
        public void writer() {
            races.index.removeRank(A);
            races.index.register(NEXT, SourceTraits.DEFAULT);
        }

        @Actor
        public void reader(I_Result r) {
            races.find(PROMPT);
            r.r1 = races.inheritedFromA();
        }
    }

    /** The best-k lookup in the split and merge of {@link SplitAndMerge}: a walk of its own, so a claim of its own. */
    @JCStressTest
    @State
    @Outcome(id = "4, [012]", expect = ACCEPTABLE, desc = "one instant, or one between the blocks of an event")
    @Outcome(id = "[012], [012]", expect = ACCEPTABLE_INTERESTING, desc = "gave up: a lower bound")
    @Outcome(expect = FORBIDDEN, desc = "more than was held")
    public static class BestDuringSplitAndMerge {
        private static final long[] PROMPT = blocks(1, 4);
        private final IndexUnderChange races = new IndexUnderChange().store(A, 0, PROMPT);
        private final BestOverlaps best = BestOverlaps.of(2);

        @Actor
        public void writer() {
            for (int i = 0; i < ROUNDS; i++) {
                races.store(B, 0, 1, 2);
                races.evict(B, 1, 2);
            }
        }

        @Actor
        public void reader(II_Result r) {
            races.index.findBest(PROMPT, PROMPT.length, best);
            r.r1 = best.size() > 0 ? best.blocks(0) : 0;
            r.r2 = best.size() > 1 ? best.blocks(1) : 0;
        }
    }

    /**
     * Two writers combine: one of them may only leave its event. Guards against a lost wake-up (an event that stays in the queue) and against two writers
     * inside at once. At rest the answer is exact.
     */
    @JCStressTest
    @State
    @Outcome(id = "4, 2, 0", expect = ACCEPTABLE, desc = "both applied")
    @Outcome(expect = FORBIDDEN, desc = "an event is lost or waits")
    public static class WritersCombine {
        private static final long[] PROMPT = blocks(1, 4);
        private final IndexUnderChange races = new IndexUnderChange();

        @Actor
        public void one() {
            races.index.enqueue(A, KvEvent.Stored.device(null, PROMPT, PROMPT));
        }

        @Actor
        public void other() {
            long[] half = blocks(1, 2);
            races.index.enqueue(B, KvEvent.Stored.device(null, half, half));
        }

        @Arbiter
        public void atRest(III_Result r) {
            races.find(PROMPT);
            r.r1 = races.ofA(PROMPT);
            r.r2 = races.ofB(PROMPT);
            r.r3 = races.index.stats().queueDepth();
        }
    }
}

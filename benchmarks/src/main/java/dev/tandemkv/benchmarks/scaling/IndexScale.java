package dev.tandemkv.benchmarks.scaling;

import dev.tandemkv.benchmarks.index.PeerHashes;
import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.BestOverlaps;
import dev.tandemkv.indexer.EventOutcome;
import dev.tandemkv.indexer.IndexStats;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** One index with the caches of a whole fleet: what it takes to hold it, to change it and to ask it. */
final class IndexScale {

    private static final int ROUNDS = 3;
    private static final int FINDS = 10_000;
    /** Of all prompts, so many are replaced; the figure is the mean over them, the growth and the cleaning of tables included. */
    private static final double CHURNED = 0.25;

    private static final int BEST = 16;

    private final FleetShape shape;
    private final int ranks;
    private final int shards;
    private final PrefixIndex index;
    private final byte[] ages;
    private final SeededRandom random = new SeededRandom(42);
    private long sink;

    private IndexScale(FleetShape shape, int ranks, int shards) {
        this.shape = shape;
        this.ranks = ranks;
        this.shards = shards;
        index = PrefixIndex.builder().shards(shards).build();
        ages = new byte[ranks * FleetShape.PROMPTS];
    }

    static IndexPoint measure(FleetShape shape, int ranks, int shards) {
        long before = usedAfterCollection();
        IndexScale scale = new IndexScale(shape, ranks, shards);
        scale.fill();
        return scale.point(usedAfterCollection() - before);
    }

    private IndexPoint point(long heap) {
        IndexStats stats = index.stats();
        Latency[] finds = finds();
        double[] churn = churn();
        if (sink == 0) {
            throw new IllegalStateException("nothing was found");
        }
        return new IndexPoint(
                shape.blockTokens(),
                ranks,
                shards,
                shape.pairs(ranks),
                stats.distinctBlocks(),
                shape.sharedRuns(ranks),
                stats.bytes(),
                heap,
                churn[0],
                churn[1],
                finds[0],
                finds[1],
                finds[2]);
    }

    /** Rank by rank for each prompt, as they would arrive. */
    private void fill() {
        for (int number = 0; number < FleetShape.PROMPTS; number++) {
            for (int rank = 0; rank < ranks; rank++) {
                long[] locals = shape.prompt(rank, number, 0);
                apply(rank, KvEvent.Stored.device(null, PeerHashes.chain(locals), locals));
            }
        }
    }

    /** Answers nanoseconds. */
    private long apply(int rank, KvEvent event) {
        WorkerRank of = WorkerRank.of(rank);
        long start = System.nanoTime();
        EventOutcome outcome = index.apply(of, event);
        long nanos = System.nanoTime() - start;
        if (outcome != EventOutcome.OK) {
            throw new IllegalStateException("rank " + rank + ": " + outcome + " (expected: OK)");
        }
        return nanos;
    }

    private Latency[] finds() {
        OverlapScores scores = OverlapScores.create();
        BestOverlaps best = BestOverlaps.of(BEST);
        List<Samples> whole = new ArrayList<>();
        List<Samples> system = new ArrayList<>();
        List<Samples> bestFew = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            Samples ofWhole = new Samples();
            Samples ofSystem = new Samples();
            Samples ofBest = new Samples();
            for (int i = 0; i < FINDS; i++) {
                long[] held = shape.prompt(random.nextInt(ranks), random.nextInt(FleetShape.PROMPTS), 0);
                long start = System.nanoTime();
                index.find(held, held.length, scores);
                ofWhole.add(System.nanoTime() - start);
                sink += scores.best();

                long[] other = shape.prompt(random.nextInt(ranks), random.nextInt(FleetShape.PROMPTS), 0);
                start = System.nanoTime();
                index.findBest(other, other.length, best);
                ofBest.add(System.nanoTime() - start);
                sink += best.blocks(0);

                long[] unknown = shape.unknownAfterSystem(random.nextInt(FleetShape.PROMPTS), i);
                start = System.nanoTime();
                index.find(unknown, unknown.length, scores);
                ofSystem.add(System.nanoTime() - start);
                sink += scores.best();
            }
            whole.add(ofWhole);
            system.add(ofSystem);
            bestFew.add(ofBest);
        }
        return new Latency[] {Latency.middleOf(whole), Latency.middleOf(system), Latency.middleOf(bestFew)};
    }

    /** A rank drops all but the system prompt of one prompt, deepest first, and stores another in its place; nanoseconds per block. */
    private double[] churn() {
        Samples stored = new Samples();
        Samples removed = new Samples();
        int system = shape.systemBlocks();
        int events = (int) (ranks * FleetShape.PROMPTS * CHURNED);
        for (int i = 0; i < events; i++) {
            int rank = random.nextInt(ranks);
            int number = random.nextInt(FleetShape.PROMPTS);
            int place = rank * FleetShape.PROMPTS + number;
            if (ages[place] == Byte.MAX_VALUE) {
                continue;
            }
            long[] old = PeerHashes.chain(shape.prompt(rank, number, ages[place]++));
            long[] locals = shape.prompt(rank, number, ages[place]);
            long[] chain = PeerHashes.chain(locals);
            removed.add(apply(rank, KvEvent.Removed.device(deepestFirst(old, system))));
            stored.add(apply(
                    rank,
                    KvEvent.Stored.device(
                            chain[system - 1],
                            Arrays.copyOfRange(chain, system, chain.length),
                            Arrays.copyOfRange(locals, system, locals.length))));
        }
        // The mean, not the median: what a table's growth costs is paid by some events for all.
        double blocks = shape.promptBlocks() - system;
        return new double[] {stored.figure("mean_ns") / blocks, removed.figure("mean_ns") / blocks};
    }

    private static long[] deepestFirst(long[] chain, int from) {
        long[] reversed = new long[chain.length - from];
        for (int i = 0; i < reversed.length; i++) {
            reversed[i] = chain[chain.length - 1 - i];
        }
        return reversed;
    }

    private static long usedAfterCollection() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 2; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }
}

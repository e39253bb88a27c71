package dev.tandemkv.benchmarks.index;

import dev.tandemkv.benchmarks.report.Samples;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.BestOverlaps;
import dev.tandemkv.indexer.EventOutcome;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.event.KvEvent;

/**
 * An index under measurement. A latency is the call alone, between two readings of the clock; building the query or event, and reading
 * the answer for the checksum, are outside. The first hash of a query is read before the clock, because the other harness copies its
 * query there.
 */
final class Subject {

    private final PrefixIndex index = PrefixIndex.builder().build();
    private final OverlapScores scores = OverlapScores.create();
    private final WorkerRank[] ranks;
    private long refused;
    private long sink;

    Subject(int workers) {
        ranks = new WorkerRank[workers];
        for (int w = 0; w < workers; w++) {
            ranks[w] = WorkerRank.of(w);
        }
    }

    PrefixIndex index() {
        return index;
    }

    void find(long[] query, Samples samples) {
        find(query, query.length, samples);
    }

    void find(long[] query, int length, Samples samples) {
        sink += length == 0 ? 0 : query[0];
        long start = System.nanoTime();
        index.find(query, length, scores);
        long elapsed = System.nanoTime() - start;
        long all = 0;
        for (int slot = scores.nextSlot(0); slot >= 0; slot = scores.nextSlot(slot + 1)) {
            all += scores.blocks(slot);
        }
        samples.find(elapsed, all, scores.best(), scores.holders());
    }

    void findBest(long[] query, BestOverlaps best, Samples samples) {
        sink += query[0];
        long start = System.nanoTime();
        index.findBest(query, query.length, best);
        long elapsed = System.nanoTime() - start;
        samples.find(elapsed, 0, best.size() == 0 ? 0 : best.blocks(0), best.size());
    }

    void apply(int worker, KvEvent event, int blocks, Samples samples) {
        long start = System.nanoTime();
        EventOutcome outcome = index.apply(ranks[worker], event);
        samples.event(System.nanoTime() - start, blocks);
        if (outcome != EventOutcome.OK && outcome != EventOutcome.DUPLICATE) {
            refused++;
        }
    }

    void store(int worker, Prompt prompt, int from, int to, Samples samples) {
        apply(worker, prompt.stored(from, to), to - from, samples);
    }

    void remove(int worker, long[] externals, Samples samples) {
        apply(worker, KvEvent.Removed.device(externals), externals.length, samples);
    }

    /** Events that the index did not take: must be 0 at the end of every workload. */
    void requireNothingRefused(String what) {
        if (refused != 0) {
            throw new IllegalStateException(what + ": " + refused + " events were refused (" + sink + ')');
        }
    }
}

package dev.tandemkv.indexer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * One writer, readers, and an oracle that knows every rank's truth after every event. A score may never exceed the largest truth of the lookup's own
 * time, must be exact where nothing happened meanwhile, and comes with the hash of exactly that block. Bounded by the number of events, not by time.
 */
class ReadersDuringWritesTest {

    private static final int SEQUENCES = 4;
    private static final int LENGTH = 48;
    private static final int EVENTS = 12_000;

    @ParameterizedTest
    @CsvSource({
        "4, 0, EXACT, 1",
        "4, 100, EXACT, 1",
        "12, 60, EXACT, 1",
        "4, 0, TRUNCATE, 1",
        "4, 100, TRUNCATE, 1",
        "12, 200, EXACT, 4"
    })
    void find_whileTheWriterSplitsMergesAndFrees_neverOver(int ranks, int bystanders, HolePolicy holes, int shards)
            throws InterruptedException {
        PrefixIndex index =
                PrefixIndex.builder().holePolicy(holes).shards(shards).build();
        NaiveIndex model = new NaiveIndex(holes, SourceTraits.DEFAULT, 8);
        for (int i = 0; i < bystanders; i++) {
            WorkerRank rank = WorkerRank.of(1_000 + i);
            index.apply(rank, KvEvent.Stored.device(null, exts(0, i % 3 + 1), locals(0, i % 3 + 1)));
        }
        List<KvEvent> events = new ArrayList<>();
        List<WorkerRank> owners = new ArrayList<>();
        byte[][] truth = new byte[EVENTS + 1][ranks * SEQUENCES];
        generate(ranks, model, events, owners, truth);
        for (int r = 0; r < ranks; r++) {
            index.register(WorkerRank.of(r), SourceTraits.DEFAULT);
        }
        int[] slots = new int[ranks];
        Arrays.setAll(slots, r -> index.slotOf(WorkerRank.of(r)));

        AtomicInteger started = new AtomicInteger();
        AtomicInteger finished = new AtomicInteger();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            int seed = i;
            readers.add(new Thread(() -> {
                try {
                    read(index, slots, truth, started, finished, seed);
                } catch (Throwable t) {
                    failure.compareAndSet(null, t);
                }
            }));
        }
        readers.forEach(Thread::start);
        for (int e = 0; e < EVENTS; e++) {
            started.set(e + 1);
            index.apply(owners.get(e), events.get(e));
            finished.set(e + 1);
        }
        for (Thread reader : readers) {
            reader.join();
        }
        assertThat(failure.get()).isNull();
        index.checkInvariants();
    }

    private static void read(
            PrefixIndex index, int[] slots, byte[][] truth, AtomicInteger started, AtomicInteger finished, int seed) {
        OverlapScores scores = OverlapScores.withLastHashes();
        BestOverlaps best = BestOverlaps.of(1);
        int lookups = 0;
        int last;
        do {
            int sequence = (lookups++ + seed) % SEQUENCES;
            long[] query = locals(sequence, LENGTH);
            int before = finished.get();
            index.find(query, LENGTH, scores);
            last = started.get();
            int largest = 0;
            for (int r = 0; r < slots.length; r++) {
                int score = scores.blocks(slots[r]);
                int most = most(truth, before, last, r * SEQUENCES + sequence);
                largest = Math.max(largest, score);
                assertThat(score).isLessThanOrEqualTo(most);
                if (before == last) {
                    assertThat(score).isEqualTo(most);
                }
                if (score > 0) {
                    assertThat(scores.lastExternalHash(slots[r])).isEqualTo(ext(sequence, score - 1));
                }
            }
            before = finished.get();
            index.findBest(query, LENGTH, best);
            last = started.get();
            int most = 0;
            for (int r = 0; r < slots.length; r++) {
                most = Math.max(most, most(truth, before, last, r * SEQUENCES + sequence));
            }
            assertThat(best.size() == 0 ? 0 : best.blocks(0)).isLessThanOrEqualTo(Math.max(most, 3));
        } while (last < EVENTS || lookups < 1_000);
    }

    private static int most(byte[][] truth, int from, int to, int column) {
        int most = 0;
        for (int e = from; e <= to; e++) {
            most = Math.max(most, truth[e][column]);
        }
        return most;
    }

    /** Appends, evictions from the end, holes, refills and clears, all of parents that are held. */
    private static void generate(
            int ranks, NaiveIndex model, List<KvEvent> events, List<WorkerRank> owners, byte[][] truth) {
        RandomGenerator random = new SeededRandom(11);
        for (int e = 0; e < EVENTS; e++) {
            WorkerRank rank = WorkerRank.of(random.nextInt(ranks));
            int sequence = random.nextInt(SEQUENCES);
            int from = random.nextInt(LENGTH);
            int to = Math.min(LENGTH, from + 1 + random.nextInt(12));
            KvEvent event;
            int kind = random.nextInt(40);
            if (kind == 0) {
                event = new KvEvent.Cleared();
            } else if (kind < 22) {
                int held = model.score(rank, locals(sequence, LENGTH), LENGTH);
                int begin = kind < 12 ? held : Math.min(held, from);
                int end = Math.min(LENGTH, begin + to - from);
                event = KvEvent.Stored.device(
                        begin == 0 ? null : (Long) ext(sequence, begin - 1),
                        Arrays.copyOfRange(exts(sequence, LENGTH), begin, end),
                        Arrays.copyOfRange(locals(sequence, LENGTH), begin, end));
            } else {
                long[] gone = Arrays.copyOfRange(exts(sequence, LENGTH), from, to);
                event = KvEvent.Removed.device(gone);
            }
            model.apply(rank, event);
            events.add(event);
            owners.add(rank);
            for (int r = 0; r < ranks; r++) {
                for (int s = 0; s < SEQUENCES; s++) {
                    truth[e + 1][r * SEQUENCES + s] = (byte) model.score(WorkerRank.of(r), locals(s, LENGTH), LENGTH);
                }
            }
        }
    }

    /** Sequences share their first half in pairs, so that runs branch. */
    private static long[] locals(int sequence, int length) {
        long[] locals = new long[length];
        for (int i = 0; i < length; i++) {
            locals[i] = i < 3 ? i : i < LENGTH / 2 ? (sequence / 2 + 1) * 1_000 + i : (sequence + 1) * 10_000 + i;
        }
        return locals;
    }

    private static long ext(int sequence, int depth) {
        long h = 7;
        long[] locals = locals(sequence, depth + 1);
        for (long local : locals) {
            h = SeededRandom.mix(h * 31 + local);
        }
        return h;
    }

    private static long[] exts(int sequence, int length) {
        long[] exts = new long[length];
        Arrays.setAll(exts, i -> ext(sequence, i));
        return exts;
    }
}

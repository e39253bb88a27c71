package dev.tandemkv.indexer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.IndexStreams.Action;
import dev.tandemkv.indexer.IndexStreams.Setup;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** Drives an index and the model through the same actions and compares all that can be asked. */
final class Comparison {

    private static final int BYSTANDER = 1_000;

    final PrefixIndex index;
    private final NaiveIndex model;
    private final Setup setup;
    private final OverlapScores scores = OverlapScores.withLastHashes();
    private final Set<Long> seen;
    private final Map<String, long[]> queries;

    Comparison(Setup setup) {
        this(
                setup,
                setup.index(new SeededRandom(3)),
                new NaiveIndex(setup.holes(), setup.traits(), setup.memory()),
                new LinkedHashSet<>(),
                new LinkedHashMap<>());
        for (int i = 0; i < setup.bystanders(); i++) {
            WorkerRank rank = WorkerRank.of(BYSTANDER + i);
            long[] prefix = {0, 0, 0, i % 3};
            long[] exts = {-11, -12, -13, -14 - i % 3};
            KvEvent event = KvEvent.Stored.device(null, exts, prefix);
            assertThat(index.apply(rank, event)).isEqualTo(model.apply(rank, event));
        }
    }

    private Comparison(Setup setup, PrefixIndex index, NaiveIndex model, Set<Long> seen, Map<String, long[]> queries) {
        this.setup = setup;
        this.index = index;
        this.model = model;
        this.seen = seen;
        this.queries = queries;
    }

    /** The same model against another index. */
    Comparison withIndex(PrefixIndex other) {
        return new Comparison(setup, other, model, seen, queries);
    }

    void step(Action action) {
        WorkerRank rank = IndexStreams.rank(action.rank());
        switch (action.kind()) {
            case STORE -> apply(rank, KvEvent.Stored.device(action.parent(), action.exts(), action.blockLocals()));
            case REMOVE ->
                apply(rank, KvEvent.Removed.device(action.variant() < 8 ? removal(action) : heldBy(rank, action)));
            case CLEAR -> apply(rank, new KvEvent.Cleared());
            case REMOVE_RANK -> {
                index.removeRank(rank);
                model.removeRank(rank);
            }
            case REMOVE_WORKER -> {
                index.removeWorker(rank.workerId());
                model.removeWorker(rank.workerId());
            }
            case REGISTER -> register(rank, action.variant());
            case STORE_LOWER ->
                apply(
                        rank,
                        new KvEvent.Stored(
                                tier(action),
                                ownership(action),
                                KvEvent.ResidencyDomain.WORKER,
                                action.parent(),
                                action.exts(),
                                action.blockLocals()));
            case REMOVE_LOWER ->
                apply(
                        rank,
                        new KvEvent.Removed(
                                tier(action), ownership(action), KvEvent.ResidencyDomain.WORKER, removal(action)));
        }
        for (int depth = 0; depth < action.path().size(); depth++) {
            seen.add(action.ext(depth));
        }
        long[] query = action.locals(action.path().size());
        queries.putIfAbsent(Arrays.toString(query), query);
        index.checkInvariants();
        compare(query, rank);
        compareRank(rank);
    }

    /** Only a rank the model knows can be told something new without starting it anew. */
    private void register(WorkerRank rank, int variant) {
        SourceTraits traits = variant % 3 == 0
                ? SourceTraits.DEFAULT
                : variant % 3 == 1
                        ? SourceTraits.COUNTS_COPIES
                        : new SourceTraits(DuplicatePolicy.COUNT_COPIES, SourceTraits.FullReports.NEVER);
        index.register(rank, traits);
        model.register(rank, traits);
    }

    private static Tier tier(Action action) {
        return action.variant() % 3 == 0 ? Tier.HOST_PINNED : action.variant() % 3 == 1 ? Tier.DISK : Tier.EXTERNAL;
    }

    private static String ownership(Action action) {
        return action.variant() / 3 == 0 ? null : action.variant() / 3 == 1 ? "a" : "b";
    }

    /** Leaf first, root first, every second one, or one named twice. */
    private static long[] removal(Action action) {
        long[] exts = action.exts();
        int n = exts.length;
        long[] result = exts.clone();
        switch (action.variant() % 4) {
            case 0 -> {
                for (int i = 0; i < n; i++) {
                    result[i] = exts[n - 1 - i];
                }
            }
            case 2 -> {
                result = new long[(n + 1) / 2];
                for (int i = 0; i < result.length; i++) {
                    result[i] = exts[i * 2];
                }
            }
            case 3 -> {
                if (n > 0) {
                    result = Arrays.copyOf(exts, n + 1);
                    result[n] = exts[0];
                }
            }
            default -> {}
        }
        return result;
    }

    /** Some of what the rank holds, whatever it is called and wherever it lies. */
    private long[] heldBy(WorkerRank rank, Action action) {
        return model.hashesOf(rank).skip(action.from()).limit(6).toArray();
    }

    private void apply(WorkerRank rank, KvEvent event) {
        EventOutcome expected = model.apply(rank, event);
        assertThat(index.apply(rank, event)).isEqualTo(expected);
    }

    void compareAll() {
        for (WorkerRank rank : model.ranks()) {
            compareRank(rank);
        }
        for (long[] query : queries.values()) {
            for (WorkerRank rank : model.ranks()) {
                compare(query, rank);
            }
        }
    }

    private void compareRank(WorkerRank rank) {
        assertThat(index.blocks(rank)).isEqualTo(model.size(rank));
        for (long ext : seen) {
            assertThat(index.core(rank).copies(rank, ext)).isEqualTo(model.copies(rank, ext));
        }
        assertThat(index.core(rank).remembered(rank))
                .containsExactly(model.remembered(rank).stream()
                        .mapToLong(Long::longValue)
                        .toArray());
    }

    private void compare(long[] query, WorkerRank actor) {
        index.find(query, query.length, scores);
        int best = 0;
        int holders = 0;
        for (WorkerRank rank : model.ranks()) {
            int expected = model.score(rank, query, query.length);
            int slot = index.slotOf(rank);
            assertThat(scores.blocks(slot)).isEqualTo(expected);
            if (expected > 0) {
                holders++;
                assertThat(scores.rankAt(slot)).isEqualTo(rank);
                model.lastHash(rank, query, expected)
                        .ifPresent(hash ->
                                assertThat(scores.lastExternalHash(slot)).isEqualTo(hash));
            }
            best = Math.max(best, expected);
        }
        assertThat(scores.best()).isEqualTo(best);
        assertThat(scores.holders()).isEqualTo(holders);
        int visited = 0;
        for (int slot = scores.nextSlot(0); slot >= 0; slot = scores.nextSlot(slot + 1)) {
            visited += scores.blocks(slot) > 0 ? 1 : 0;
        }
        assertThat(visited).isEqualTo(holders);
        compareBest(query);
        compareTiers(query, actor);
    }

    private void compareBest(long[] query) {
        BestOverlaps best = BestOverlaps.of(3);
        best.rotate(query.length * 7);
        index.findBest(query, query.length, best);
        int[] expected = model.ranks().stream()
                .mapToInt(rank -> -model.score(rank, query, query.length))
                .filter(score -> score < 0)
                .sorted()
                .limit(3)
                .map(score -> -score)
                .toArray();
        assertThat(best.size()).isEqualTo(expected.length);
        for (int i = 0; i < expected.length; i++) {
            assertThat(best.blocks(i)).isEqualTo(expected[i]);
            assertThat(scores.blocks(best.slot(i))).isEqualTo(expected[i]);
        }
    }

    private void compareTiers(long[] query, WorkerRank actor) {
        index.findTiered(query, query.length, scores);
        for (WorkerRank rank : model.ranks()) {
            if (rank.workerId() >= BYSTANDER && !rank.equals(actor)) {
                continue;
            }
            int[] expected = model.tieredScore(rank, query, query.length);
            int slot = index.slotOf(rank);
            if (expected[0] > 0 && model.lastHash(rank, query, expected[0]).isEmpty()) {
                continue;
            }
            for (Tier tier : Tier.values()) {
                assertThat(scores.blocks(slot, tier)).isEqualTo(expected[tier.level()]);
            }
        }
    }
}

package dev.tandemkv.adapters.http.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.selection.ExclusionReason;
import dev.tandemkv.selection.KvHint;
import dev.tandemkv.selection.Overlap;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.WorkerLoad;
import dev.tandemkv.selection.explain.Explanation;
import dev.tandemkv.selection.policy.CostTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.Nullable;

/** What a service answers is what a client reads. */
class SelectionAnswerRoundTripPropertyTest {

    @Property(tries = 200)
    void booked_writtenAndRead_isTheSame(@ForAll long seed) throws WireException {
        Selection selection = selection(new SeededRandom(seed));
        byte[] json = Answers.selection(
                selection,
                Answers.Form.BOOKED,
                0,
                List.copyOf(selection.overlap().deviceByRank().keySet()));

        Selection read = JsonBody.read(json, json.length, JsonBody.UnknownFields.IGNORED, SelectionReader::read)
                .selection(selection.islTokens(), selection.rung());

        assertThat(read)
                .usingRecursiveComparison()
                .ignoringFields("timings", "explanation")
                .isEqualTo(selection);
        assertSame(read.explanation(), selection.explanation());
    }

    private static void assertSame(@Nullable Explanation read, @Nullable Explanation wanted) {
        assertThat(read == null).isEqualTo(wanted == null);
        if (read == null || wanted == null) {
            return;
        }
        assertThat(read).usingRecursiveComparison().ignoringFields("candidates").isEqualTo(wanted);
        assertThat(read.candidates()).hasSameSizeAs(wanted.candidates());
        for (int i = 0; i < wanted.candidates().size(); i++) {
            Explanation.Candidate candidate = read.candidates().get(i);
            Explanation.Candidate expected = wanted.candidates().get(i);
            assertThat(candidate)
                    .usingRecursiveComparison()
                    .ignoringFields("contributions")
                    .isEqualTo(expected);
            for (int j = 0; j < expected.contributions().size(); j++) {
                Explanation.Contribution part = candidate.contributions().get(j);
                assertThat(part.scorer())
                        .isEqualTo(expected.contributions().get(j).scorer());
                assertThat(part.terms().cost())
                        .isEqualTo(expected.contributions().get(j).terms().cost());
                assertThat(part.terms().values())
                        .isEqualTo(expected.contributions().get(j).terms().values());
            }
        }
    }

    private static Selection selection(RandomGenerator random) {
        long isl = random.nextLong(1, Long.MAX_VALUE);
        boolean explained = random.nextBoolean();
        long effective = random.nextLong(0, isl + 1);
        return Selection.builder(new PartitionKey("m", "g \"quoted\""), rank(random))
                .selectionId(random.nextBoolean() ? null : "id")
                .endpoint("worker:1")
                .blockSize(random.nextInt(1, Integer.MAX_VALUE))
                .overlap(new Overlap(
                        count(random), count(random), count(random), count(random), Map.of(random.nextInt(), 7L)))
                .islTokens(isl)
                // Only an explanation tells the fraction.
                .cachedTokens(explained ? random.nextDouble() * 1e9 : isl - effective)
                .effectivePrefillTokens(effective)
                .potentialDecodeBlocks(count(random))
                .decodeBusy(flag(random))
                .workerLoad(
                        random.nextBoolean()
                                ? null
                                : new WorkerLoad(
                                        count(random),
                                        count(random),
                                        random.nextBoolean() ? null : Long.valueOf(count(random)),
                                        flag(random)))
                .sequenceHashes(random.longs(random.nextInt(4)).toArray())
                .trackPrefillTokens(random.nextBoolean())
                .kvHint(
                        random.nextBoolean()
                                ? null
                                : new KvHint(
                                        rank(random),
                                        "control:1",
                                        random.nextInt(1, 1 << 20),
                                        random.nextInt(1 << 20),
                                        random.nextLong()))
                .rung(LadderRung.values()[random.nextInt(LadderRung.values().length)])
                .waitedNanos(explained ? count(random) : 0)
                .explanation(explained ? explanation(random) : null)
                .build();
    }

    private static Explanation explanation(RandomGenerator random) {
        List<Explanation.Candidate> candidates = new ArrayList<>();
        List<Explanation.Exclusion> excluded = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            List<Explanation.Contribution> parts = IntStream.range(0, random.nextInt(3))
                    .mapToObj(part ->
                            new Explanation.Contribution("scorer " + part, CostTerms.opaque(random.nextDouble())))
                    .toList();
            candidates.add(new Explanation.Candidate(
                    rank(random), random.nextDouble(), random.nextInt(9), random.nextInt(9), random.nextInt(9), parts));
            ExclusionReason[] reasons = ExclusionReason.values();
            excluded.add(new Explanation.Exclusion(
                    rank(random), reasons[random.nextInt(reasons.length)], random.nextBoolean() ? null : "filter"));
        }
        return new Explanation(
                "policy", rank(random), random.nextInt(9), candidates, excluded, random.nextInt(9), random.nextInt(9));
    }

    private static WorkerRank rank(RandomGenerator random) {
        return new WorkerRank(random.nextLong(), random.nextInt());
    }

    private static long count(RandomGenerator random) {
        return random.nextLong(0, Long.MAX_VALUE);
    }

    private static @Nullable Boolean flag(RandomGenerator random) {
        return random.nextBoolean() ? null : Boolean.valueOf(random.nextBoolean());
    }
}

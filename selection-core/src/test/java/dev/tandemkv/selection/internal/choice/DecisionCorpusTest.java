package dev.tandemkv.selection.internal.choice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.DecisionCorpus;
import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.internal.ledger.BookingLedger;
import dev.tandemkv.selection.internal.ledger.BookingTerms;
import dev.tandemkv.selection.internal.ledger.LeaseTimes;
import dev.tandemkv.selection.internal.ledger.Ownership;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Recorded decisions: the cost of every eligible rank, the winner, and the load that the recorded bookings make. */
class DecisionCorpusTest {

    @TestFactory
    Stream<DynamicTest> recordedDecisions_areReproduced() throws IOException {
        return DecisionCorpus.tests(DecisionCorpusTest::reproduce);
    }

    private static void reproduce(JsonNode recorded) {
        JsonNode request = recorded.get("request");
        int blockSize = recorded.get("block_size").asInt();
        long isl = tokens(request.get("tokens")).length;
        Decision decision = Decision.kv(scoring(recorded.get("config")), isl)
                .blockSize(blockSize)
                .override(override(request.path("override")))
                .among(eligible(recorded.get("ranks"), request));
        if (!tracksPrefill(recorded)) {
            decision.prefillUntracked();
        }
        if (!request.path("preferred_taints").isEmpty()) {
            decision.preferringTaints();
        }
        costsAndWinnersAreTheRecorded(decision, recorded.get("ours"));
        bookingsMakeTheRecordedLoad(recorded, blockSize);
    }

    private static void costsAndWinnersAreTheRecorded(Decision decision, JsonNode ours) {
        Map<String, Double> expected = new TreeMap<>();
        ours.get("costs")
                .properties()
                .forEach(cost -> expected.put(cost.getKey(), cost.getValue().asDouble()));
        double[] costs = decision.costs();
        CandidateTable table = decision.fill().table();
        Map<String, Double> actual = new TreeMap<>();
        for (int row = 0; row < table.size(); row++) {
            actual.put(table.worker(row).toString(), costs[row]);
        }
        assertThat(actual).containsOnlyKeys(expected.keySet());
        expected.forEach((rank, cost) ->
                assertThat(actual.get(rank)).as("cost of %s", rank).isCloseTo(cost, within(tolerance(cost))));
        List<String> winners = new ArrayList<>();
        ours.get("winners").forEach(winner -> winners.add(winner.asText()));
        if (expected.isEmpty()) {
            assertThat(winners).as("winners among nobody").isEmpty();
            return;
        }
        double lowest = Collections.min(expected.values());
        assertThat(winners)
                .as("winners")
                .isNotEmpty()
                .allSatisfy(winner -> assertThat(expected.get(winner))
                        .as("cost of the winner %s", winner)
                        .isNotNull()
                        .isCloseTo(lowest, within(tolerance(lowest))));
        assertThat(winners).contains(decision.chosen().toString());
    }

    /** 1e-9, and for costs so large that a double cannot tell that, the last few bits of it. */
    private static double tolerance(double cost) {
        return Math.max(1e-9, Math.abs(cost) * 1e-13);
    }

    private static void bookingsMakeTheRecordedLoad(JsonNode recorded, int blockSize) {
        BookingLedger ledger = new BookingLedger(new LeaseTimes(1, 1), new SeededRandom(3));
        Map<WorkerRank, Integer> rows = new HashMap<>();
        recorded.get("ranks").forEach(rank -> rows.put(worker(rank), rows.size()));
        for (JsonNode booking : recorded.get("bookings")) {
            long prefill = booking.path("prefill_complete").asBoolean()
                    ? 0
                    : booking.path("effective_prefill_tokens").asLong();
            BookingId id = new BookingId(booking.get("id").asText(), worker(booking), 1);
            ledger.add(
                    rows.get(worker(booking)),
                    new BookingTerms(id, PrefillHint.unmodelled(prefill), null, null, Ownership.HANDLE),
                    hashes(tokens(booking.get("tokens")), blockSize),
                    0);
        }
        long[] prompt = hashes(tokens(recorded.get("request").get("tokens")), blockSize);
        int[] depths = new int[rows.size()];
        ledger.project(prompt, prompt.length, depths);
        for (JsonNode rank : recorded.get("ranks")) {
            int row = rows.get(worker(rank));
            assertThat(ledger.activeDecodeBlocks(row))
                    .isEqualTo(rank.get("active_decode_blocks").asLong());
            assertThat(ledger.activeRequests(row))
                    .isEqualTo(rank.get("active_requests").asInt());
            assertThat(ledger.activePrefillTokens(row, 0))
                    .isEqualTo(rank.get("active_prefill_tokens").asLong());
            assertThat(prompt.length - depths[row])
                    .isEqualTo(rank.get("additional_blocks").asInt());
        }
    }

    private static Decision.Row[] eligible(JsonNode ranks, JsonNode request) {
        List<Decision.Row> rows = new ArrayList<>();
        for (JsonNode rank : ranks) {
            Set<String> taints = new HashSet<>();
            rank.path("taints").forEach(taint -> taints.add(taint.asText()));
            if (allowed(rank, taints, request)) {
                double weight = 0;
                for (Map.Entry<String, JsonNode> preferred :
                        request.path("preferred_taints").properties()) {
                    weight += taints.contains(preferred.getKey())
                            ? preferred.getValue().asDouble()
                            : 0;
                }
                rows.add(new Decision.Row(
                        worker(rank),
                        rank.get("device").asInt(),
                        rank.get("host").asInt(),
                        rank.get("disk").asInt(),
                        0,
                        rank.get("active_prefill_tokens").asLong(),
                        rank.get("active_decode_blocks").asLong(),
                        rank.get("additional_blocks").asInt(),
                        rank.get("active_requests").asInt(),
                        weight));
            }
        }
        return rows.toArray(Decision.Row[]::new);
    }

    private static boolean allowed(JsonNode rank, Set<String> taints, JsonNode request) {
        for (JsonNode required : request.path("required_taints")) {
            if (!taints.contains(required.asText())) {
                return false;
            }
        }
        JsonNode allowed = request.path("allowed_worker_ids");
        if (!allowed.isArray()) {
            return true;
        }
        for (JsonNode id : allowed) {
            if (Long.parseUnsignedLong(id.asText()) == worker(rank).workerId()) {
                return true;
            }
        }
        return false;
    }

    private static WorkerRank worker(JsonNode node) {
        return new WorkerRank(
                Long.parseUnsignedLong(node.get("worker").asText()),
                node.get("rank").asInt());
    }

    private static ScoringConfig scoring(JsonNode config) {
        ScoringConfig d = ScoringConfig.DEFAULT;
        return new ScoringConfig(
                config.path("overlap_score_credit").asDouble(d.overlapScoreCredit()),
                config.path("overlap_score_credit_decay").asDouble(d.overlapScoreCreditDecay()),
                config.path("prefill_load_scale").asDouble(d.prefillLoadScale()),
                config.path("decode_active_request_weight").asDouble(d.decodeActiveRequestWeight()),
                config.path("host_cache_hit_weight").asDouble(d.hostCacheHitWeight()),
                config.path("disk_cache_hit_weight").asDouble(d.diskCacheHitWeight()),
                0,
                config.path("shared_cache_multiplier").asDouble(d.sharedCacheMultiplier()));
    }

    private static RouterConfigOverride override(JsonNode node) {
        return new RouterConfigOverride(
                number(node, "overlap_score_credit"),
                number(node, "prefill_load_scale"),
                number(node, "router_temperature"),
                null,
                null,
                number(node, "shared_cache_multiplier"));
    }

    private static @Nullable Double number(JsonNode node, String field) {
        return node.hasNonNull(field) ? node.get(field).asDouble() : null;
    }

    private static boolean tracksPrefill(JsonNode recorded) {
        JsonNode override = recorded.get("request").path("override").path("track_prefill_tokens");
        return override.isBoolean()
                ? override.asBoolean()
                : recorded.get("config").path("track_prefill_tokens").asBoolean(true);
    }

    private static int[] tokens(JsonNode segments) {
        List<Integer> tokens = new ArrayList<>();
        for (JsonNode segment : segments) {
            for (int i = 0; i < segment.get(1).asInt(); i++) {
                tokens.add(segment.get(0).asInt() + i);
            }
        }
        return tokens.stream().mapToInt(Integer::intValue).toArray();
    }

    /** A chain over the complete blocks; any injective one does. */
    private static long[] hashes(int[] tokens, int blockSize) {
        long[] hashes = new long[tokens.length / blockSize];
        long chain = 0;
        for (int i = 0; i < hashes.length * blockSize; i++) {
            chain = SeededRandom.mix(chain * 31 + tokens[i]);
            if (i % blockSize == blockSize - 1) {
                hashes[i / blockSize] = chain;
            }
        }
        return hashes;
    }
}

package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.failure;
import static dev.tandemkv.selection.CoreFixture.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.BlockHashes;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.SelectionConfigBuilder;
import dev.tandemkv.selection.explain.Explanation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.DoubleConsumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Recorded decisions through the whole core: workers are registered, engines announce what they hold, the recorded bookings are made; then
 * the ledger shows the recorded load, every rank costs what was recorded, and one of the recorded winners is chosen and booked.
 */
class CoreDecisionCorpusTest {

    @TestFactory
    Stream<DynamicTest> recordedDecisions_areReproducedByTheCore() throws IOException {
        return DecisionCorpus.tests(CoreDecisionCorpusTest::reproduce);
    }

    private static void reproduce(JsonNode recorded) {
        int blockSize = recorded.get("block_size").asInt();
        VirtualTime time = new VirtualTime();
        SelectionCore core = SelectionCore.builder()
                .config(config(recorded.get("config")))
                .ticker(time)
                .clock(time.clock())
                .scheduler(time)
                .random(new SeededRandom(11))
                .build();
        workers(recorded.get("ranks"), blockSize).forEach(core::upsert);
        int[] tokens = tokens(recorded.at("/request/tokens"));
        recorded.get("ranks").forEach(rank -> announce(core, rank, tokens, blockSize));
        recorded.get("bookings").forEach(booking -> book(core, booking));
        ledgerIsTheRecorded(core, recorded.get("ranks"));
        SelectRequest request = request(recorded.get("request"), tokens);
        ranksHoldWhatWasRecorded(core, recorded.get("ranks"), request);
        JsonNode ours = recorded.get("ours");
        if (ours.get("winners").isEmpty()) {
            assertThat(failure(core.select(request)).kind()).isEqualTo(Kind.NO_ELIGIBLE_WORKER);
            return;
        }
        costsAreTheRecorded(core, ours.get("costs"), request);
        winnerIsRecorded(core, recorded, request);
    }

    // ---- the scene

    private static SelectionConfig config(JsonNode given) {
        SelectionConfigBuilder config = SelectionConfig.builder();
        number(given, "overlap_score_credit", config::overlapScoreCredit);
        number(given, "overlap_score_credit_decay", config::overlapScoreCreditDecay);
        number(given, "prefill_load_scale", config::prefillLoadScale);
        number(given, "decode_active_request_weight", config::decodeActiveRequestWeight);
        number(given, "host_cache_hit_weight", config::hostCacheHitWeight);
        number(given, "disk_cache_hit_weight", config::diskCacheHitWeight);
        number(given, "shared_cache_multiplier", config::sharedCacheMultiplier);
        if (given.has("track_prefill_tokens")) {
            config.trackPrefillTokens(given.get("track_prefill_tokens").asBoolean());
        }
        return config.build();
    }

    private static void number(JsonNode given, String field, DoubleConsumer apply) {
        if (given.hasNonNull(field)) {
            apply.accept(given.get(field).asDouble());
        }
    }

    private static List<WorkerSpec> workers(JsonNode ranks, int blockSize) {
        Map<Long, List<JsonNode>> byWorker = new TreeMap<>(Long::compareUnsigned);
        ranks.forEach(rank -> byWorker.computeIfAbsent(worker(rank).workerId(), id -> new ArrayList<>())
                .add(rank));
        List<WorkerSpec> specs = new ArrayList<>();
        byWorker.forEach((id, own) -> {
            Set<String> taints = new HashSet<>();
            own.forEach(rank -> rank.path("taints").forEach(taint -> taints.add(taint.asText())));
            int first = own.stream().mapToInt(r -> worker(r).rank()).min().orElseThrow();
            specs.add(WorkerSpec.builder(id)
                    .endpoint("worker:1")
                    .blockSize(blockSize)
                    .dataParallelStartRank(first)
                    .dataParallelSize(own.size())
                    .taints(taints)
                    .build());
        });
        return specs;
    }

    private static void announce(SelectionCore core, JsonNode rank, int[] tokens, int blockSize) {
        BlockHashes hashes = BlockHasher.ofBlockSize(blockSize).hash(tokens, HashScope.BASE, MultimodalObjects.NONE);
        int at = announce(
                core, worker(rank), Tier.DEVICE, hashes, 0, rank.get("device").asInt());
        at = announce(
                core,
                worker(rank),
                Tier.HOST_PINNED,
                hashes,
                at,
                rank.get("host").asInt());
        announce(core, worker(rank), Tier.DISK, hashes, at, rank.get("disk").asInt());
    }

    private static int announce(
            SelectionCore core, WorkerRank rank, Tier tier, BlockHashes hashes, int from, int blocks) {
        if (blocks > 0) {
            core.apply(
                    PartitionKey.DEFAULT,
                    rank,
                    new KvEvent.Stored(
                            tier,
                            null,
                            KvEvent.ResidencyDomain.WORKER,
                            from == 0 ? null : (Long) hashes.sequence(from - 1),
                            Arrays.copyOfRange(hashes.sequences(), from, from + blocks),
                            Arrays.copyOfRange(hashes.locals(), from, from + blocks)));
        }
        return from + blocks;
    }

    private static void book(SelectionCore core, JsonNode booking) {
        String id = booking.get("id").asText();
        now(core.createReservation(ReservationRequest.explicit(
                        PartitionKey.DEFAULT, id, worker(booking), Prompt.ofTokens(tokens(booking.get("tokens"))))
                .withEffectivePrefillTokens(
                        booking.path("effective_prefill_tokens").asLong())));
        if (booking.path("prefill_complete").asBoolean()) {
            now(core.prefillComplete(id));
        }
    }

    private static SelectRequest request(JsonNode recorded, int[] tokens) {
        SelectRequest.Builder request = SelectRequest.builder(Prompt.ofTokens(tokens))
                .explanation(SelectRequest.Explain.EVERY_CANDIDATE)
                .override(override(recorded.path("override")));
        RoutingConstraints constraints = RoutingConstraints.NONE;
        for (JsonNode taint : recorded.path("required_taints")) {
            constraints = constraints.plusRequired(taint.asText());
        }
        for (Map.Entry<String, JsonNode> taint :
                recorded.path("preferred_taints").properties()) {
            constraints =
                    constraints.plusPreferred(taint.getKey(), taint.getValue().asDouble());
        }
        request.constraints(constraints);
        if (recorded.path("allowed_worker_ids").isArray()) {
            Set<Long> allowed = new HashSet<>();
            recorded.get("allowed_worker_ids").forEach(id -> allowed.add(Long.parseUnsignedLong(id.asText())));
            request.allowedWorkerIds(allowed);
        }
        return request.build();
    }

    private static RouterConfigOverride override(JsonNode node) {
        RouterConfigOverride override = RouterConfigOverride.NONE;
        if (node.hasNonNull("overlap_score_credit")) {
            override = override.withOverlapScoreCredit(
                    node.get("overlap_score_credit").asDouble());
        }
        if (node.hasNonNull("prefill_load_scale")) {
            override =
                    override.withPrefillLoadScale(node.get("prefill_load_scale").asDouble());
        }
        if (node.hasNonNull("router_temperature")) {
            override = override.withRouterTemperature(
                    node.get("router_temperature").asDouble());
        }
        if (node.hasNonNull("track_prefill_tokens")) {
            override = override.withTrackPrefillTokens(
                    node.get("track_prefill_tokens").asBoolean());
        }
        if (node.hasNonNull("assume_kv_reuse")) {
            override = override.withAssumeKvReuse(node.get("assume_kv_reuse").asBoolean());
        }
        return node.hasNonNull("shared_cache_multiplier")
                ? override.withSharedCacheMultiplier(
                        node.get("shared_cache_multiplier").asDouble())
                : override;
    }

    // ---- what comes out

    private static void ledgerIsTheRecorded(SelectionCore core, JsonNode ranks) {
        Map<WorkerRank, RankLoad> loads = new HashMap<>();
        core.loads(PartitionKey.DEFAULT).orElseThrow().loads().forEach(load -> loads.put(load.worker(), load));
        assertThat(loads).hasSize(ranks.size());
        for (JsonNode rank : ranks) {
            assertThat(loads.get(worker(rank)))
                    .isEqualTo(new RankLoad(
                            worker(rank),
                            rank.get("active_prefill_tokens").asLong(),
                            rank.get("active_decode_blocks").asLong(),
                            rank.get("active_requests").asInt()));
        }
    }

    private static void ranksHoldWhatWasRecorded(SelectionCore core, JsonNode ranks, SelectRequest request) {
        Map<WorkerRank, RankOverlap> rows = new HashMap<>();
        now(core.overlapScores(request)).workers().forEach(row -> rows.put(row.worker(), row));
        for (JsonNode rank : ranks) {
            RankOverlap row = rows.get(worker(rank));
            assertThat(List.of(row.deviceBlocks(), row.hostExtensionBlocks(), row.diskExtensionBlocks()))
                    .as("%s", rank)
                    .isEqualTo(List.of(
                            rank.get("device").asInt(),
                            rank.get("host").asInt(),
                            rank.get("disk").asInt()));
        }
    }

    private static void costsAreTheRecorded(SelectionCore core, JsonNode costs, SelectRequest request) {
        Map<String, Double> actual = new TreeMap<>();
        now(core.score(request))
                .orElseThrow()
                .forEach(score -> actual.put(score.worker().toString(), score.cost()));
        List<String> ranks = StreamSupport.stream(costs.properties().spliterator(), false)
                .map(Map.Entry::getKey)
                .toList();
        assertThat(actual).containsOnlyKeys(ranks);
        for (Map.Entry<String, JsonNode> cost : costs.properties()) {
            double expected = cost.getValue().asDouble();
            assertThat(actual.get(cost.getKey()))
                    .as("cost of %s", cost.getKey())
                    .isCloseTo(expected, within(tolerance(expected)));
        }
    }

    private static void winnerIsRecorded(SelectionCore core, JsonNode recorded, SelectRequest request) {
        List<String> winners = new ArrayList<>();
        recorded.at("/ours/winners").forEach(winner -> winners.add(winner.asText()));
        Selection selection = now(core.select(request));
        assertThat(winners).contains(selection.worker().toString());
        Explanation explanation = selection.explanation();
        assertThat(explanation).isNotNull();
        assertThat(explanation.candidates())
                .allSatisfy(each -> assertThat(each.recomputedCost()).isEqualTo(each.cost()));
        for (JsonNode rank : recorded.get("ranks")) {
            if (worker(rank).equals(selection.worker())) {
                assertThat(selection.potentialDecodeBlocks())
                        .isEqualTo(rank.get("active_decode_blocks").asLong()
                                + rank.get("additional_blocks").asLong());
            }
        }
        Booking booking = now(core.selectAndReserve(request));
        assertThat(winners).contains(booking.id().worker().toString());
        booking.close();
        ledgerIsTheRecorded(core, recorded.get("ranks"));
    }

    /** 1e-9, and for costs so large that a double cannot tell that, the last few bits of it. */
    private static double tolerance(double cost) {
        return Math.max(1e-9, Math.abs(cost) * 1e-13);
    }

    private static WorkerRank worker(JsonNode node) {
        return new WorkerRank(
                Long.parseUnsignedLong(node.get("worker").asText()),
                Integer.parseUnsignedInt(node.get("rank").asText()));
    }

    private static int[] tokens(JsonNode segments) {
        List<Integer> tokens = new ArrayList<>();
        for (JsonNode segment : segments) {
            for (int i = 0; i < segment.get(1).asInt(); i++) {
                tokens.add((int) (segment.get(0).asLong() + i));
            }
        }
        return tokens.stream().mapToInt(Integer::intValue).toArray();
    }
}

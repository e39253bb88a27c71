package dev.tandemkv.examples.enginewatch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.SourceTraits.FullReports;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Whoever reads the printed lines of a cache manager's stream, and nothing else, knows at every checkpoint what the engine held. */
class PrintedTruthTest {

    @TestFactory
    Stream<DynamicTest> linesOfEveryStream_readIntoAnIndex_giveWhatTheEngineHeld() {
        return Captures.present().stream()
                .filter(capture -> Captures.oracle(capture).isPresent())
                // Hashes of pages alone, which no index can follow; and stores that were never sent.
                .filter(capture -> !Captures.name(capture).startsWith("sglang-0.4")
                        && !Captures.name(capture).endsWith("-gap"))
                .map(capture -> DynamicTest.dynamicTest(Captures.name(capture), () -> new Reading(capture).check()));
    }

    private static final class Reading {
        private final JsonNode expected;
        private final JsonNode oracle;
        private final List<JsonNode> lines;
        private final BlockHasher hasher;
        private final PrefixIndex index;
        private final boolean fullReports;
        private int next;
        private long lastSequence = -1;
        private WorkerRank rank = WorkerRank.of(0);

        Reading(Path capture) {
            expected = Captures.expected(capture);
            oracle = Captures.oracle(capture).orElseThrow();
            lines = Captures.run("--capture", capture.toString()).lines();
            BlockHasher plain = BlockHasher.ofBlockSize(oracle.get("block_size").asInt());
            hasher = expected.path("eagle").asBoolean() ? plain.withLookahead(1) : plain;
            fullReports = Captures.name(capture).endsWith("-full-report");
            boolean vllm = expected.get("engine").asText().equals("vllm");
            SourceTraits traits = (vllm ? EngineFamily.VLLM : EngineFamily.SGLANG)
                    .traits(fullReports ? FullReports.POSSIBLE : FullReports.NEVER);
            index = PrefixIndex.builder().defaultTraits(traits).build();
        }

        void check() {
            int message = 0;
            for (JsonNode checkpoint : oracle.get("checkpoints")) {
                for (; message <= checkpoint.get("after_message").asInt(); message++) {
                    apply(expected.get("messages").get(message));
                }
                compare(checkpoint);
            }
        }

        private void apply(JsonNode message) {
            String sequence = message.get("sequence").asText();
            if (Long.parseUnsignedLong(sequence) < lastSequence) {
                index.apply(rank, new KvEvent.Cleared());
            }
            lastSequence = Long.parseUnsignedLong(sequence);
            while (next < lines.size()
                    && lines.get(next).get("sequence").asText().equals(sequence)) {
                JsonNode line = lines.get(next++);
                rank = new WorkerRank(
                        Long.parseUnsignedLong(line.get("worker").asText()),
                        line.get("rank").asInt());
                index.apply(rank, event(line));
            }
        }

        private static KvEvent event(JsonNode line) {
            Tier tier = Tier.valueOf(line.get("tier").asText().toUpperCase(Locale.ROOT));
            return switch (line.get("type").asText()) {
                case "stored" ->
                    KvEvent.Stored.in(
                            tier,
                            line.has("parent") ? (Long) unsigned(line.get("parent")) : null,
                            Captures.list(line.get("blocks")).stream()
                                    .mapToLong(pair -> unsigned(pair.get(0)))
                                    .toArray(),
                            Captures.list(line.get("blocks")).stream()
                                    .mapToLong(pair -> unsigned(pair.get(1)))
                                    .toArray());
                case "removed" ->
                    KvEvent.Removed.in(
                            tier,
                            Captures.list(line.get("hashes")).stream()
                                    .mapToLong(Reading::unsigned)
                                    .toArray());
                default -> new KvEvent.Cleared();
            };
        }

        private static long unsigned(JsonNode decimal) {
            return Long.parseUnsignedLong(decimal.textValue());
        }

        private void compare(JsonNode checkpoint) {
            String where = "after message " + checkpoint.get("after_message");
            int group = Math.max(0, Captures.texts(expected.path("groups")).indexOf("full"));
            assertThat(index.blocks(rank))
                    .as(where)
                    .isEqualTo(
                            checkpoint.get("cached").path(String.valueOf(group)).size());
            for (JsonNode probe : checkpoint.get("probes")) {
                int held = probe.get("held_prefix_blocks_by_group").get(group).asInt();
                assertThat(score(oracle.get("probes").get(probe.get("probe").asInt())))
                        .as(where + ", probe " + probe.get("probe"))
                        .isEqualTo(held);
            }
        }

        private int score(JsonNode probe) {
            int[] tokens = Captures.list(probe.get("token_ids")).stream()
                    .mapToInt(JsonNode::asInt)
                    .toArray();
            HashScope scope = HashScope.of(
                    probe.path("lora_name").textValue(),
                    probe.path("cache_salt").textValue());
            long[] locals = new long[hasher.blocks(tokens.length)];
            hasher.locals(tokens, tokens.length, scope, objects(probe.path("mm"), locals.length), locals);
            OverlapScores scores = OverlapScores.create();
            index.find(locals, locals.length, scores);
            int slot = index.slotOf(rank);
            return slot < 0 ? 0 : scores.blocks(slot);
        }

        /** Each object enters every block that it touches. */
        private MultimodalObjects objects(JsonNode listed, int blocks) {
            List<long @Nullable []> perBlock = new ArrayList<>();
            for (int block = 0; block < blocks; block++) {
                int from = block * hasher.blockSize();
                perBlock.add(Captures.list(listed).stream()
                        .filter(object -> object.get(1).asInt() < from + hasher.blockSize()
                                && object.get(1).asInt() + object.get(2).asInt() > from)
                        .mapToLong(object -> MultimodalObjects.identifierHash(
                                        object.get(0).asText())
                                .orElseThrow())
                        .toArray());
            }
            return MultimodalObjects.perBlock(perBlock);
        }
    }
}

package dev.tandemkv.adapters.enginewire.neutral;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tandemkv.adapters.enginewire.Captures;
import dev.tandemkv.adapters.enginewire.LiveMessage;
import dev.tandemkv.adapters.enginewire.WireDecoder;
import dev.tandemkv.adapters.enginewire.WireLimits;
import dev.tandemkv.adapters.enginewire.neutral.NeutralBatch.HashScheme;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.DuplicatePolicy;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.SourceTraits.FullReports;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The streams of real cache managers, applied to an index: at every checkpoint it holds what the engine held. Scenario 28e, and what the
 * captures' README states: never a block or a prefix too many; equal where the wire can tell.
 */
class EngineTruthTest {

    private static final SourceTraits COUNTING = EngineFamily.VLLM.traits();
    private static final SourceTraits WITHOUT_FULL_REPORTS = EngineFamily.VLLM.traits(FullReports.NEVER);
    private static final SourceTraits IDEMPOTENT = EngineFamily.UNKNOWN.traits();

    private enum Expectation {
        EQUAL,
        NEVER_OVER
    }

    @TestFactory
    Stream<DynamicTest> s28e_everyStreamOfACacheManager_neverHoldsMoreAndEqualsWhereTheWireTells() {
        return Captures.present().all().stream()
                .filter(capture -> capture.oracle().isPresent())
                .flatMap(capture -> Stream.of(COUNTING, WITHOUT_FULL_REPORTS, IDEMPOTENT)
                        .map(traits -> DynamicTest.dynamicTest(
                                capture.name() + " " + traits.duplicates() + " " + traits.fullReports(),
                                () -> new Run(capture, traits).check())));
    }

    /** One capture through decoder, normaliser and index. */
    private static final class Run {
        private final Captures.Capture capture;
        private final JsonNode expected;
        private final JsonNode oracle;
        private final SourceTraits traits;
        private final BlockHasher hasher;
        private final PrefixIndex index;
        private final WireDecoder decoder = new WireDecoder(WireLimits.defaults());
        private final Map<Integer, Source> sources = new HashMap<>();
        private boolean rootStoreOfHeldBlock;

        Run(Captures.Capture capture, SourceTraits traits) {
            this.capture = capture;
            this.expected = capture.expected();
            this.oracle = capture.oracle().orElseThrow();
            this.traits = traits;
            BlockHasher plain = BlockHasher.ofBlockSize(oracle.get("block_size").asInt());
            this.hasher = expected.path("eagle").asBoolean() ? plain.withLookahead(1) : plain;
            this.index = PrefixIndex.builder().defaultTraits(traits).build();
        }

        /** One publisher: one rank. */
        private final class Source {
            private final WorkerRank rank;
            private final WireNormalizer normalizer;
            private @Nullable Long lastSequence;
            private HashScheme scheme = HashScheme.CUMULATIVE;
            /** Where each announced block stands: the local hashes from the root on. */
            private final Map<Long, long[]> paths = new HashMap<>();
            /** Copies announced and not removed. */
            private final Map<Long, Integer> announced = new HashMap<>();

            Source(int number) {
                rank = WorkerRank.of(number);
                EngineFamily family =
                        expected.get("engine").asText().equals("vllm") ? EngineFamily.VLLM : EngineFamily.SGLANG;
                normalizer = new WireNormalizer(NormalizerConfig.of(rank, hasher, family));
            }

            void receive(List<byte[]> frames) {
                LiveMessage message = LiveMessage.of(frames);
                if (lastSequence != null && Long.compareUnsigned(message.sequence(), lastSequence) < 0) {
                    normalizer.forget(0);
                    take(new KvEvent.Cleared());
                }
                lastSequence = message.sequence();
                // The captures' publishers number their ranks as they like; here a source is a rank of its own.
                NeutralBatch batch = normalizer.normalize(new dev.tandemkv.adapters.enginewire.WireBatch(
                        0, decoder.decode(message.payload()).events(), null, 0));
                scheme = batch.hashScheme();
                batch.events().forEach(this::take);
                if (scheme == HashScheme.UNSUPPORTED) {
                    take(new KvEvent.Cleared());
                }
            }

            private void take(KvEvent event) {
                index.apply(rank, event);
                if (event instanceof KvEvent.Stored stored && stored.tier() == Tier.DEVICE) {
                    long[] above = stored.parent() == null ? new long[0] : paths.get(stored.parent());
                    for (int i = 0; i < stored.blocks() && above != null; i++) {
                        long[] path = java.util.Arrays.copyOf(above, above.length + 1);
                        path[above.length] = stored.localHashes()[i];
                        paths.put(stored.externalHashes()[i], path);
                        int before = announced.merge(stored.externalHashes()[i], 1, Integer::sum) - 1;
                        rootStoreOfHeldBlock |= stored.parent() == null && before > 0;
                        above = path;
                    }
                } else if (event instanceof KvEvent.Removed removed && removed.tier() == Tier.DEVICE) {
                    for (long block : removed.externalHashes()) {
                        announced.computeIfPresent(block, (b, copies) -> copies == 1 ? null : copies - 1);
                    }
                } else if (event instanceof KvEvent.Cleared) {
                    announced.clear();
                }
            }
        }

        void check() {
            List<Captures.Line> lines = capture.lines();
            int applied = -1;
            int shortfall = 0;
            for (JsonNode checkpoint : oracle.get("checkpoints")) {
                int until = checkpoint.get("after_message").asInt();
                for (; applied < until; applied++) {
                    Captures.Line line = lines.get(applied + 1);
                    if (line.socket().equals("sub")) {
                        source(line.source()).receive(line.frames());
                    }
                }
                shortfall += compare(checkpoint, "after message " + until);
            }
            if (expectation() == Expectation.EQUAL) {
                assertThat(shortfall).as("blocks and prefixes missing").isZero();
            }
            if (isUnsupported()) {
                assertThat(source(0).scheme).isEqualTo(HashScheme.UNSUPPORTED);
                assertThat(index.blocks(source(0).rank)).isZero();
            } else {
                assertThat(sources.values()).allMatch(source -> source.scheme == HashScheme.CUMULATIVE);
            }
        }

        private Source source(int number) {
            return sources.computeIfAbsent(number, Source::new);
        }

        /** The README's statements, by kind of capture. */
        private Expectation expectation() {
            String name = capture.name();
            if (isUnsupported() || name.endsWith("-gap")) {
                return Expectation.NEVER_OVER;
            }
            if (expected.get("engine").asText().equals("sglang")) {
                return Expectation.EQUAL;
            }
            if (traits.duplicates() == DuplicatePolicy.IDEMPOTENT) {
                return Expectation.NEVER_OVER;
            }
            if (name.endsWith("-full-report")) {
                return traits.rootStoresAddCopies() ? Expectation.NEVER_OVER : Expectation.EQUAL;
            }
            return traits.rootStoresAddCopies() || !rootStoreOfHeldBlock ? Expectation.EQUAL : Expectation.NEVER_OVER;
        }

        private boolean isUnsupported() {
            String[] version = expected.get("version").asText().split("\\.");
            return expected.get("engine").asText().equals("sglang")
                    && (Integer.parseInt(version[1]) < 5
                            || (Integer.parseInt(version[1]) == 5 && Integer.parseInt(version[2]) <= 5));
        }

        /** Whether a full report would count as new copies: the one declaration that the host must not make for such a source. */
        private boolean declaredWrongly() {
            return capture.name().endsWith("-full-report") && traits.rootStoresAddCopies();
        }

        private int compare(JsonNode checkpoint, String where) {
            Source source = source(checkpoint.get("source").asInt());
            int group = mainGroup();
            Set<Long> truth = new HashSet<>();
            checkpoint
                    .get("cached")
                    .path(String.valueOf(group))
                    .forEach(hash -> truth.add(Long.parseUnsignedLong(hash.asText())));
            Set<Long> held = held(source);
            if (declaredWrongly()) {
                return 0;
            }
            assertThat(truth)
                    .as(where + ": blocks that the engine does not hold")
                    .containsAll(held);
            assertThat(index.blocks(source.rank)).as(where + ": blocks counted").isLessThanOrEqualTo(truth.size());
            int missing = truth.size() - (int) index.blocks(source.rank);
            for (JsonNode probe : checkpoint.get("probes")) {
                int score = score(
                        source.rank,
                        probeHashes(oracle.get("probes").get(probe.get("probe").asInt())));
                int real = probe.get("held_prefix_blocks_by_group").get(group).asInt();
                assertThat(score).as(where + ": probe " + probe.get("probe")).isLessThanOrEqualTo(real);
                missing += real - score;
            }
            if (missing == 0) {
                assertThat(held).as(where).isEqualTo(truth);
            }
            return missing;
        }

        private int mainGroup() {
            List<String> groups = new ArrayList<>();
            expected.path("groups").forEach(group -> groups.add(group.asText()));
            return Math.max(0, groups.indexOf("full"));
        }

        /** Announced blocks that a query for their own chain finds. */
        private Set<Long> held(Source source) {
            Set<Long> held = new HashSet<>();
            source.paths.forEach((block, path) -> {
                if (score(source.rank, path) == path.length) {
                    held.add(block);
                }
            });
            return held;
        }

        private int score(WorkerRank rank, long[] locals) {
            OverlapScores scores = OverlapScores.create();
            index.find(locals, locals.length, scores);
            int slot = index.slotOf(rank);
            return slot < 0 ? 0 : scores.blocks(slot);
        }

        private long[] probeHashes(JsonNode probe) {
            int[] tokens = new int[probe.get("token_ids").size()];
            for (int i = 0; i < tokens.length; i++) {
                tokens[i] = probe.get("token_ids").get(i).asInt();
            }
            HashScope scope = HashScope.of(text(probe.get("lora_name")), text(probe.get("cache_salt")));
            long[] locals = new long[hasher.blocks(tokens.length)];
            hasher.locals(tokens, tokens.length, scope, objects(probe.path("mm"), locals.length), locals);
            return locals;
        }

        /** Each object enters every block that it touches. */
        private MultimodalObjects objects(JsonNode listed, int blocks) {
            List<long @Nullable []> perBlock = new ArrayList<>();
            for (int block = 0; block < blocks; block++) {
                int from = block * hasher.blockSize();
                List<Long> inside = new ArrayList<>();
                for (JsonNode object : listed) {
                    int start = object.get(1).asInt();
                    if (start < from + hasher.blockSize()
                            && start + object.get(2).asInt() > from) {
                        inside.add(
                                MultimodalObjects.identifierHash(object.get(0).asText())
                                        .orElseThrow());
                    }
                }
                perBlock.add(inside.stream().mapToLong(Long::longValue).toArray());
            }
            return MultimodalObjects.perBlock(perBlock);
        }

        private static @Nullable String text(@Nullable JsonNode node) {
            return node == null || node.isNull() ? null : node.asText();
        }
    }
}

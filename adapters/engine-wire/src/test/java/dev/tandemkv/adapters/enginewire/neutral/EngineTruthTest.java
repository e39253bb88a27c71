package dev.tandemkv.adapters.enginewire.neutral;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tandemkv.adapters.enginewire.Captures;
import dev.tandemkv.adapters.enginewire.LiveMessage;
import dev.tandemkv.adapters.enginewire.ReplayMessage;
import dev.tandemkv.adapters.enginewire.WireDecoder;
import dev.tandemkv.adapters.enginewire.WireLimits;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.DuplicatePolicy;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.SourceTraits.FullReports;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.EventBatch;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.FeedCounter;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.event.ReplayReply;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The streams of real cache managers, through listener and feed into an index: at every checkpoint it holds what the engine held. What the
 * captures' README states: never a block or a prefix too many; equal where the wire can tell.
 */
class EngineTruthTest {

    private static final SourceTraits COUNTING = EngineFamily.VLLM.traits();
    private static final SourceTraits WITHOUT_FULL_REPORTS = EngineFamily.VLLM.traits(FullReports.NEVER);
    private static final SourceTraits IDEMPOTENT = EngineFamily.UNKNOWN.traits();

    /** Which live lines arrive. */
    private enum Line {
        ALL,
        /** Two of three get lost on the way, never the last before a checkpoint; the engine can send all again. */
        LOSSY_WITH_REPLAY
    }

    @TestFactory
    Stream<DynamicTest> s28e_everyStreamOfACacheManager_neverHoldsMoreAndEqualsWhereTheWireTells() {
        return Captures.present().all().stream()
                .filter(capture -> capture.oracle().isPresent())
                .flatMap(capture -> Stream.of(COUNTING, WITHOUT_FULL_REPORTS, IDEMPOTENT)
                        .flatMap(traits -> Stream.of(Line.values())
                                .map(line -> DynamicTest.dynamicTest(
                                        capture.name() + " " + traits.duplicates() + " " + traits.fullReports() + " "
                                                + line,
                                        () -> new Run(capture, traits, line).check()))));
    }

    /** One capture, applied under one declaration of its source. */
    private static final class Run {
        private final Captures.Capture capture;
        private final JsonNode expected;
        private final JsonNode oracle;
        private final SourceTraits traits;
        private final Line line;
        private final BlockHasher hasher;
        private final WireDecoder decoder = new WireDecoder(WireLimits.defaults());
        private final VirtualTime time = new VirtualTime();
        private final PrefixIndex index = PrefixIndex.builder().build();
        private final IndexFeed feed = IndexFeed.builder(index, time, time).build();
        private final Map<Integer, Source> sources = new HashMap<>();
        private final Random losses = new Random(11);

        Run(Captures.Capture capture, SourceTraits traits, Line line) {
            this.capture = capture;
            this.expected = capture.expected();
            this.oracle = capture.oracle().orElseThrow();
            this.traits = traits;
            this.line = line;
            BlockHasher plain = BlockHasher.ofBlockSize(oracle.get("block_size").asInt());
            this.hasher = expected.path("eagle").asBoolean() ? plain.withLookahead(1) : plain;
        }

        void check() {
            List<Captures.Line> lines = capture.lines();
            Set<Integer> ends = StreamSupport.stream(oracle.get("checkpoints").spliterator(), false)
                    .map(checkpoint -> checkpoint.get("after_message").asInt())
                    .collect(Collectors.toSet());
            int next = 0;
            int missing = 0;
            for (JsonNode checkpoint : oracle.get("checkpoints")) {
                for (; next <= checkpoint.get("after_message").asInt(); next++) {
                    Captures.Line message = lines.get(next);
                    if (message.socket().equals("sub")) {
                        boolean lost = line == Line.LOSSY_WITH_REPLAY && !ends.contains(next) && losses.nextInt(3) > 0;
                        source(message.source()).publish(message.frames(), lost);
                    }
                }
                missing += compare(checkpoint);
            }
            if (isExact()) {
                assertThat(missing).as("blocks and prefixes missing").isZero();
            }
            sources.values().forEach(source -> checkTrust(source.rank));
        }

        private void checkTrust(WorkerRank rank) {
            Exactness exactness = feed.exactness(rank).orElseThrow();
            if (isUnsupported()) {
                assertThat(exactness)
                        .isEqualTo(new Exactness.Degraded(
                                Exactness.Reason.UNSUPPORTED_HASH_SCHEME, Exactness.Direction.UNDERCOUNT));
                assertThat(index.blocks(rank)).isZero();
                assertThat(feed.stats().get(FeedCounter.UNSUPPORTED_HASH_SCHEME_DROPPED))
                        .isPositive();
            } else if (isExact()) {
                assertThat(exactness).isEqualTo(Exactness.EXACT);
                assertThat(feed.stats().get(FeedCounter.ORPHAN_EVENTS)).isZero();
            }
        }

        private Source source(int number) {
            return sources.computeIfAbsent(number, Source::new);
        }

        /** One publisher: one rank, whatever numbers the captured publisher gave its ranks. */
        private final class Source {
            private final WorkerRank rank;
            private final EngineListener listener;
            /** For the test's own picture of where blocks stand; always told everything, in order. */
            private final WireNormalizer observer;

            private final List<LiveMessage> published = new ArrayList<>();
            private final Map<Long, long[]> paths = new HashMap<>();
            private final Map<Long, Integer> announced = new HashMap<>();
            private boolean mayBeShort;

            Source(int number) {
                rank = new WorkerRank(number, rankOnTheWire(number));
                EngineFamily family =
                        expected.get("engine").asText().equals("vllm") ? EngineFamily.VLLM : EngineFamily.SGLANG;
                NormalizerConfig config = NormalizerConfig.of(rank, hasher, family);
                listener = new EngineListener(config, null, WireLimits.defaults());
                observer = new WireNormalizer(config);
                FeedSource.Builder source =
                        FeedSource.builder().traits(traits).catchup(FeedSource.Catchup.ON_FIRST_BATCH);
                feed.register(
                        rank,
                        line == Line.ALL
                                ? source.build()
                                : source.replay((r, from) -> CompletableFuture.completedFuture(replay(from)))
                                        .build());
            }

            private int rankOnTheWire(int number) {
                return StreamSupport.stream(expected.get("messages").spliterator(), false)
                        .filter(message -> message.get("source").asInt() == number && message.hasNonNull("dp_rank"))
                        .mapToInt(message -> message.get("dp_rank").asInt())
                        .findFirst()
                        .orElse(0);
            }

            void publish(List<byte[]> frames, boolean lost) {
                LiveMessage message = LiveMessage.of(frames);
                boolean restart = !published.isEmpty()
                        && Long.compareUnsigned(
                                        message.sequence(),
                                        published.get(published.size() - 1).sequence())
                                < 0;
                if (restart) {
                    published.clear();
                    announced.clear();
                }
                published.add(message);
                observe(message, restart);
                // A new publisher shows by its first number, so that one arrives.
                if (!lost || restart) {
                    feed.offer(listener.live(frames).orElseThrow());
                }
            }

            private ReplayReply replay(long from) {
                List<EventBatch> batches = published.stream()
                        .filter(message -> Long.compareUnsigned(message.sequence(), from) >= 0)
                        .map(message -> listener.replayed(
                                        new ReplayMessage.Data(null, message.sequence(), message.payload()))
                                .orElseThrow())
                        .toList();
                return new ReplayReply.Batches(batches, ReplayReply.End.MARKED);
            }

            private void observe(LiveMessage message, boolean restart) {
                if (restart) {
                    observer.restart(rank.rank());
                }
                observer.normalize(decoder.decode(message.payload())).events().forEach(this::observe);
            }

            private void observe(KvEvent event) {
                if (event instanceof KvEvent.Stored stored && stored.tier() == Tier.DEVICE) {
                    observe(stored);
                } else if (event instanceof KvEvent.Removed removed && removed.tier() == Tier.DEVICE) {
                    for (long block : removed.externalHashes()) {
                        announced.computeIfPresent(block, (b, copies) -> copies == 1 ? null : copies - 1);
                    }
                } else if (event instanceof KvEvent.Cleared) {
                    announced.clear();
                }
            }

            private void observe(KvEvent.Stored stored) {
                long[] above = stored.parent() == null ? new long[0] : paths.get(stored.parent());
                for (int i = 0; i < stored.blocks() && above != null; i++) {
                    long[] path = Arrays.copyOf(above, above.length + 1);
                    path[above.length] = stored.localHashes()[i];
                    paths.put(stored.externalHashes()[i], path);
                    int copies = announced.merge(stored.externalHashes()[i], 1, Integer::sum);
                    mayBeShort |= stored.parent() == null && copies > 1;
                    above = path;
                }
            }

            /** Announced blocks that a query for their own chain finds. */
            private Set<Long> held() {
                return paths.entrySet().stream()
                        .filter(block -> score(rank, block.getValue()) == block.getValue().length)
                        .map(Map.Entry::getKey)
                        .collect(Collectors.toCollection(HashSet::new));
            }
        }

        /** What the README states, by kind of capture. */
        private boolean isExact() {
            if (isUnsupported() || capture.name().endsWith("-gap") || isDeclaredWrongly()) {
                return false;
            }
            if (expected.get("engine").asText().equals("sglang")) {
                return true;
            }
            if (traits.duplicates() == DuplicatePolicy.IDEMPOTENT) {
                return false;
            }
            // A count can be short only where a store from the root named a block that was held; a full report is such
            // a store, but adds
            // no copy, so there the count is right.
            return traits.rootStoresAddCopies()
                    || capture.name().endsWith("-full-report")
                    || sources.values().stream().noneMatch(source -> source.mayBeShort);
        }

        private boolean isUnsupported() {
            String[] version = expected.get("version").asText().split("\\.");
            int minor = Integer.parseInt(version[1]);
            return expected.get("engine").asText().equals("sglang")
                    && (minor < 5 || (minor == 5 && Integer.parseInt(version[2].replaceFirst("\\D.*", "")) <= 5));
        }

        /** Full reports of a source that was declared free of them count as copies that do not exist. */
        private boolean isDeclaredWrongly() {
            return capture.name().endsWith("-full-report") && traits.rootStoresAddCopies();
        }

        /** Blocks and prefixes that the index does not know. */
        private int compare(JsonNode checkpoint) {
            Source source = source(checkpoint.get("source").asInt());
            String where = "after message " + checkpoint.get("after_message");
            if (isDeclaredWrongly()) {
                return 0;
            }
            int group = mainGroup();
            Set<Long> truth = StreamSupport.stream(
                            checkpoint.get("cached").path(String.valueOf(group)).spliterator(), false)
                    .map(hash -> Long.parseUnsignedLong(hash.asText()))
                    .collect(Collectors.toSet());
            Set<Long> held = source.held();
            assertThat(truth).as(where + ": blocks that the engine holds").containsAll(held);
            int missing = truth.size() - (int) index.blocks(source.rank);
            assertThat(missing).as(where + ": blocks missing").isNotNegative();
            for (JsonNode probe : checkpoint.get("probes")) {
                long[] prompt =
                        hashes(oracle.get("probes").get(probe.get("probe").asInt()));
                int real = probe.get("held_prefix_blocks_by_group").get(group).asInt();
                int score = score(source.rank, prompt);
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

        private int score(WorkerRank rank, long[] locals) {
            OverlapScores scores = OverlapScores.create();
            index.find(locals, locals.length, scores);
            int slot = index.slotOf(rank);
            return slot < 0 ? 0 : scores.blocks(slot);
        }

        private long[] hashes(JsonNode probe) {
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
                perBlock.add(StreamSupport.stream(listed.spliterator(), false)
                        .filter(object -> object.get(1).asInt() < from + hasher.blockSize()
                                && object.get(1).asInt() + object.get(2).asInt() > from)
                        .mapToLong(object -> MultimodalObjects.identifierHash(
                                        object.get(0).asText())
                                .orElseThrow())
                        .toArray());
            }
            return MultimodalObjects.perBlock(perBlock);
        }

        private static @Nullable String text(@Nullable JsonNode node) {
            return node == null || node.isNull() ? null : node.asText();
        }
    }
}

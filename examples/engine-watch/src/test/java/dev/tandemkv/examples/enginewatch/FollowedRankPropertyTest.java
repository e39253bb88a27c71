package dev.tandemkv.examples.enginewatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.adapters.enginewire.ReplayMessage;
import dev.tandemkv.adapters.enginewire.WireLimits;
import dev.tandemkv.adapters.enginewire.neutral.EngineFamily;
import dev.tandemkv.adapters.enginewire.neutral.EngineListener;
import dev.tandemkv.adapters.enginewire.neutral.NormalizerConfig;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.RankContents;
import dev.tandemkv.indexer.event.EventBatch;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.FeedSource;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.ReplayReply;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.testkit.engine.wire.EngineHash;
import dev.tandemkv.testkit.engine.wire.EngineTokens;
import dev.tandemkv.testkit.engine.wire.FakeRank;
import dev.tandemkv.testkit.engine.wire.FaultyLine.Fault;
import dev.tandemkv.testkit.engine.wire.PublisherConfig;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/**
 * A fake rank followed through listener, feed and index, without sockets, whatever goes wrong on the line: in the end the index holds what
 * the engine holds, or the rank says that it may not.
 */
class FollowedRankPropertyTest {

    private static final WorkerRank RANK = WorkerRank.of(1);

    @Provide
    Arbitrary<List<String>> scripts() {
        return Arbitraries.frequencyOf(
                        Tuple.of(10, Arbitraries.just("store")),
                        Tuple.of(5, Arbitraries.just("remove")),
                        Tuple.of(
                                5,
                                Arbitraries.of(
                                        "DROP",
                                        "DUPLICATE",
                                        "REORDER",
                                        "GARBAGE",
                                        "stall",
                                        "resume",
                                        "restart",
                                        "lose",
                                        "clear")))
                .list()
                .ofMinSize(1)
                .ofMaxSize(40);
    }

    @Property
    void rank_followedThroughFaults_isHeldExactlyOrSaysSo(
            @ForAll("scripts") List<String> script, @ForAll long seed, @ForAll WireDialect dialect) {
        Followed followed = new Followed(dialect, seed);
        script.forEach(followed::apply);
        followed.settle();

        Exactness exactness = followed.feed.exactness(RANK).orElseThrow();
        if (exactness.kind() == Exactness.Kind.EXACT) {
            assertThat(followed.held()).isEqualTo(followed.rank.held());
        } else {
            assertThat(exactness).isInstanceOf(Exactness.Degraded.class);
            assertThat(script).as("what cannot be repaired").contains("lose");
        }
    }

    private static final class Followed {
        private final SeededRandom random;
        private final VirtualTime time = new VirtualTime();
        private final PrefixIndex index = PrefixIndex.builder().build();
        private final IndexFeed feed = IndexFeed.builder(index, time, time).build();
        private final EngineListener listener;
        private final FakeRank rank;
        private final boolean signed;
        private final List<Long> chain = new ArrayList<>();
        private long nextHash = 1;
        private double clock;
        private long lastHeard;

        Followed(WireDialect dialect, long seed) {
            random = new SeededRandom(seed);
            signed = dialect.signedHashes();
            EngineFamily family = dialect.engine().equals("vllm") ? EngineFamily.VLLM : EngineFamily.SGLANG;
            listener = new EngineListener(
                    NormalizerConfig.of(RANK, BlockHasher.ofBlockSize(2), family), "kv", WireLimits.defaults());
            rank = new FakeRank(
                    PublisherConfig.of(dialect, 0).withTopic("kv"),
                    random,
                    frames -> listener.live(frames).ifPresent(this::hear));
            feed.register(
                    RANK,
                    FeedSource.builder()
                            .traits(family.traits())
                            .replay((of, from) -> replay(from))
                            .build());
        }

        private void hear(EventBatch batch) {
            lastHeard = batch.sequence();
            feed.offer(batch);
        }

        private CompletionStage<ReplayReply> replay(long from) {
            List<EventBatch> batches = new ArrayList<>();
            CompletableFuture<ReplayReply> reply = new CompletableFuture<>();
            rank.answer(ReplayMessage.request(from), frames -> {
                if (ReplayMessage.of(frames) instanceof ReplayMessage.Data data) {
                    listener.replayed(data).ifPresent(batches::add);
                } else {
                    reply.complete(new ReplayReply.Batches(batches, ReplayReply.End.MARKED));
                }
            });
            return reply;
        }

        void apply(String step) {
            switch (step) {
                case "store" -> store();
                case "remove" -> remove();
                case "clear" -> {
                    chain.clear();
                    rank.clear();
                }
                case "stall" -> rank.stall();
                case "resume" -> rank.resume();
                case "lose" -> rank.loseForGood();
                case "restart" -> restart();
                default -> rank.inject(Fault.valueOf(step), 1);
            }
            rank.publish(clock++);
        }

        /**
         * A new process whose first batch arrives, with a lower number than the one heard last: from numbers alone nobody can tell any
         * other restart. A socket that was reconnected tells those.
         */
        private void restart() {
            if (lastHeard > 0) {
                chain.clear();
                rank.restart();
                store();
            }
        }

        /** A new block behind some block that is held, or at the root. */
        private void store() {
            Long parent = chain.isEmpty() || random.nextInt(4) == 0 ? null : chain.get(random.nextInt(chain.size()));
            long hash = nextHash++ * 0x9E3779B97F4A7C15L;
            rank.storeOnDevice(
                    parent == null ? null : hash(parent),
                    List.of(hash(hash)),
                    EngineTokens.of((int) nextHash, (int) nextHash),
                    2);
            chain.add(hash);
        }

        private void remove() {
            if (!chain.isEmpty()) {
                rank.removeFromDevice(List.of(hash(chain.remove(random.nextInt(chain.size())))));
            }
        }

        private EngineHash hash(long bits) {
            return signed ? EngineHash.signed(bits) : EngineHash.unsigned(bits);
        }

        /** The faults that are due happen, the last batches arrive, and what is asked for is answered. */
        void settle() {
            rank.resume();
            for (int i = 0; i < 45; i++) {
                store();
                rank.publish(clock++);
                time.advance(Duration.ofMinutes(10));
            }
        }

        Set<Long> held() {
            RankContents contents = index.contents(RANK).orElseThrow();
            Set<Long> held = new HashSet<>();
            contents.stores()
                    .forEach(store -> Arrays.stream(store.externalHashes()).forEach(held::add));
            Arrays.stream(contents.lacking()).forEach(held::remove);
            return held;
        }
    }
}

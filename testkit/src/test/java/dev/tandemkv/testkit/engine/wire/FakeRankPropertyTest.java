package dev.tandemkv.testkit.engine.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.SeededRandom;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** A rank against lists: one of every copy, one of every batch. */
class FakeRankPropertyTest {

    private static final int RING = 4;
    private static final int BLOCKS = 6;

    /** One thing done to a rank. */
    private record Step(String what, int block) {}

    @Provide
    Arbitrary<List<Step>> scripts() {
        Arbitrary<String> what = Arbitraries.of(
                "store", "store", "store", "remove", "remove", "report", "clear", "lose", "stall", "resume", "restart");
        return what.flatMap(
                        name -> Arbitraries.integers().between(0, BLOCKS - 1).map(block -> new Step(name, block)))
                .list()
                .ofMaxSize(40);
    }

    @Property
    void rank_underAnyScript_holdsAndReplaysWhatTheListsSay(@ForAll("scripts") List<Step> script) {
        Model model = new Model();
        List<Long> live = new ArrayList<>();
        FakeRank rank = new FakeRank(
                PublisherConfig.of(WireDialect.SGLANG_0_5_22, 0).withRingBatches(RING),
                new SeededRandom(1),
                frames -> live.add(number(frames.get(1))));
        for (Step step : script) {
            apply(step, rank);
            rank.publish(0);
            model.apply(step);

            assertThat(rank.held()).isEqualTo(new HashSet<>(model.copies));
            assertThat(rank.isStalled()).isEqualTo(model.stalled);
            assertThat(live).isEqualTo(model.live);
            assertThat(rank.heldPrefix(LongStream.range(0, BLOCKS).toArray())).isEqualTo(model.prefix());
        }
        rank.resume();
        model.resume();
        for (long start = 0; start <= model.next + 1; start++) {
            List<Long> replayed = new ArrayList<>();
            rank.answer(
                    List.of(new byte[0], ByteBuffer.allocate(8).putLong(start).array()),
                    reply -> replayed.add(number(reply.get(reply.size() - 2))));
            assertThat(replayed).isEqualTo(model.replay(start));
        }
    }

    private static void apply(Step step, FakeRank rank) {
        List<EngineHash> hash = List.of(EngineHash.signed(step.block));
        EngineEvent.Stored stored = EngineEvent.Stored.of(null, hash, EngineTokens.of(step.block), 1);
        switch (step.what) {
            case "store" -> rank.store(stored);
            case "remove" -> rank.remove(EngineEvent.Removed.of(hash));
            case "report" -> rank.reportAgain(stored);
            case "clear" -> rank.clear();
            case "lose" -> rank.loseForGood();
            case "stall" -> rank.stall();
            case "resume" -> rank.resume();
            default -> rank.restart();
        }
    }

    private static long number(byte[] frame) {
        return ByteBuffer.wrap(frame).getLong();
    }

    private static final class Model {
        private final List<Long> copies = new ArrayList<>();
        private final List<Long> live = new ArrayList<>();
        private final List<Long> sentInThisLife = new ArrayList<>();
        /** True for a batch, false for a number that is used up. */
        private final List<Boolean> waiting = new ArrayList<>();

        private boolean stalled;
        private long next;

        void apply(Step step) {
            switch (step.what) {
                case "store" -> copies.add((long) step.block);
                case "remove" -> copies.remove((Object) (long) step.block);
                case "clear" -> copies.clear();
                case "stall" -> stalled = true;
                case "resume" -> resume();
                case "restart" -> {
                    copies.clear();
                    sentInThisLife.clear();
                    waiting.clear();
                    stalled = false;
                    next = 0;
                }
                default -> {}
            }
            if (Set.of("store", "remove", "report", "clear").contains(step.what)) {
                send(true);
            } else if (step.what.equals("lose")) {
                send(false);
            }
        }

        private void send(boolean batch) {
            if (stalled) {
                waiting.add(batch);
                return;
            }
            long number = next++;
            if (batch) {
                live.add(number);
                sentInThisLife.add(number);
            }
        }

        void resume() {
            stalled = false;
            waiting.forEach(this::send);
            waiting.clear();
        }

        int prefix() {
            int blocks = 0;
            while (copies.contains((long) blocks)) {
                blocks++;
            }
            return blocks;
        }

        List<Long> replay(long start) {
            List<Long> numbers = new ArrayList<>(sentInThisLife.stream()
                    .sorted(Comparator.reverseOrder())
                    .limit(RING)
                    .filter(number -> number >= start)
                    .sorted()
                    .toList());
            numbers.add(-1L);
            return numbers;
        }
    }
}

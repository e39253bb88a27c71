package dev.tandemkv.testkit.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.testkit.engine.EngineModel.IterationCost;
import dev.tandemkv.testkit.engine.EngineRequest.Work;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** The engine against one that counts every token of every request in every iteration. */
class FakeEnginePropertyTest {

    private static final EngineModel MODEL = new EngineModel("test", new IterationCost(7, 1, 0.01, 3, 0.1), 24, 3, 8);

    private record Arrival(long at, EngineRequest request) {}

    @Provide
    Arbitrary<List<Arrival>> arrivals() {
        Arbitrary<Arrival> one = Combinators.combine(
                        Arbitraries.longs().between(0, 40),
                        Arbitraries.integers().between(0, 3),
                        Arbitraries.integers().between(1, 60),
                        Arbitraries.integers().between(1, 20),
                        Arbitraries.of(Work.values()))
                .as((at, family, input, output, work) ->
                        new Arrival(at * 20_000_000, new EngineRequest(0, blocks(family, input), input, output, work)));
        return one.list().ofMaxSize(12).map(FakeEnginePropertyTest::numbered);
    }

    /** Prompts of one family share their first three blocks. */
    private static int[] blocks(int family, int input) {
        int count = (input + 7) / 8;
        return IntStream.range(0, count)
                .map(i -> i < 3 ? 10 * family + i : 1_000 * input + 10 * family + i)
                .toArray();
    }

    private static List<Arrival> numbered(List<Arrival> arrivals) {
        List<Arrival> sorted = new ArrayList<>(arrivals);
        sorted.sort(Comparator.comparingLong(Arrival::at));
        List<Arrival> numbered = new ArrayList<>();
        for (Arrival a : sorted) {
            EngineRequest r = a.request;
            numbered.add(new Arrival(
                    a.at, new EngineRequest(numbered.size(), r.blocks(), r.inputTokens(), r.outputTokens(), r.work())));
        }
        return numbered;
    }

    @Property
    void anyArrivals_sameAsTheEngineThatCountsTokens(
            @ForAll("arrivals") List<Arrival> arrivals, @ForAll @IntRange(min = 12, max = 40) int cacheBlocks) {
        Log log = new Log();
        FakeEngine engine = new FakeEngine(MODEL, cacheBlocks, log);
        int next = 0;
        while (next < arrivals.size() || engine.iterationEnd() != FakeEngine.IDLE) {
            long arrival = next < arrivals.size() ? arrivals.get(next).at : Long.MAX_VALUE;
            if (engine.iterationEnd() <= arrival) {
                log.now = engine.iterationEnd();
                engine.endIteration();
                continue;
            }
            log.now = arrival;
            for (; next < arrivals.size() && arrivals.get(next).at == arrival; next++) {
                assertThat(engine.submit(arrivals.get(next).request)).isTrue();
            }
            engine.start(arrival);
        }
        assertThat(engine.requests()).isZero();
        assertThat(log.events).isEqualTo(new TokenCounting(arrivals, cacheBlocks).run());
    }

    /** What happens to requests and to the cache, in order, with the time. */
    private static final class Log implements EngineListener {
        private final List<String> events = new ArrayList<>();
        private long now;

        @Override
        public void admitted(EngineRequest request, int cachedTokens) {
            events.add(now + " admitted " + request.id() + " with " + cachedTokens);
        }

        @Override
        public void firstToken(EngineRequest request) {
            events.add(now + " first " + request.id());
        }

        @Override
        public void grewByBlock(EngineRequest request) {}

        @Override
        public void finished(EngineRequest request) {
            events.add(now + " end " + request.id());
        }

        @Override
        public void stored(EngineRequest request, int from, int to) {}

        @Override
        public void evicted(int block) {
            events.add(now + " evicted " + block);
        }
    }

    /** The naive engine. Shares the cache, which has a property of its own. Requests are numbered in order of arrival. */
    private static final class TokenCounting {
        private final List<Arrival> arrivals;
        private final BlockCache cache;
        private final List<State> waiting = new ArrayList<>();
        private final List<State> running = new ArrayList<>();
        private final List<String> events = new ArrayList<>();
        private long now;

        private static final class State {
            private final EngineRequest request;
            private final int total;
            private int computed;
            private int generated;

            State(EngineRequest request) {
                this.request = request;
                this.total = request.work() == Work.PREFILL_ONLY ? 1 : request.outputTokens();
                this.generated = request.work() == Work.DECODE_ONLY ? 1 : 0;
            }

            boolean transferred() {
                return request.work() == Work.DECODE_ONLY;
            }

            boolean decoding() {
                return computed == request.inputTokens();
            }

            int room() {
                return MODEL.blocksFor(total - generated);
            }
        }

        TokenCounting(List<Arrival> arrivals, int cacheBlocks) {
            this.arrivals = arrivals;
            this.cache = new BlockCache(cacheBlocks, block -> events.add(now + " evicted " + block));
        }

        List<String> run() {
            int next = 0;
            while (next < arrivals.size() || !waiting.isEmpty() || !running.isEmpty()) {
                if (waiting.isEmpty() && running.isEmpty()) {
                    now = Math.max(now, arrivals.get(next).at);
                    for (; next < arrivals.size() && arrivals.get(next).at <= now; next++) {
                        waiting.add(new State(arrivals.get(next).request));
                    }
                }
                long duration = iterate();
                // What arrives while an iteration runs waits for the next one, also if it comes at the instant at which
                // this one starts.
                for (; next < arrivals.size() && arrivals.get(next).at < now + duration; next++) {
                    waiting.add(new State(arrivals.get(next).request));
                }
                now += duration;
                finish();
            }
            return events;
        }

        private List<State> chunked = new ArrayList<>();
        private List<Integer> chunks = new ArrayList<>();
        private List<State> decoders = new ArrayList<>();

        private long iterate() {
            for (State s : List.copyOf(waiting)) {
                if (s.transferred()) {
                    int held = Math.min(cache.matched(s.request.blocks()) * 8, s.request.inputTokens());
                    if (running.size() == MODEL.maxSequences() || !cache.tryPin(s.request.blocks(), s.room())) {
                        break;
                    }
                    start(s, held);
                    fill(s, s.request.inputTokens());
                    if (s.generated >= s.total) {
                        end(s);
                    }
                }
            }
            decoders = running.stream()
                    .filter(State::decoding)
                    .sorted(Comparator.comparingLong(s -> s.request.id()))
                    .toList();
            chunked = new ArrayList<>();
            chunks = new ArrayList<>();
            int budget = MODEL.tokenBudget() - decoders.size();
            long tokens = 0;
            double attention = 0;
            List<State> prefilling =
                    new ArrayList<>(running.stream().filter(s -> !s.decoding()).toList());
            for (int i = 0; budget > 0; i++) {
                if (i == prefilling.size()) {
                    State s = waiting.stream()
                            .filter(w -> !w.transferred())
                            .findFirst()
                            .orElse(null);
                    if (s == null || running.size() == MODEL.maxSequences()) {
                        break;
                    }
                    int held = Math.min(cache.matched(s.request.blocks()) * 8, s.request.inputTokens() - 1);
                    if (!cache.tryPin(s.request.blocks(), s.room())) {
                        break;
                    }
                    start(s, held);
                    prefilling.add(s);
                }
                State s = prefilling.get(i);
                int chunk = Math.min(budget, s.request.inputTokens() - s.computed);
                attention += chunk * (double) s.computed + chunk * (double) chunk / 2;
                tokens += chunk;
                budget -= chunk;
                chunked.add(s);
                chunks.add(chunk);
            }
            if (tokens == 0 && decoders.isEmpty()) {
                return 0;
            }
            long context = decoders.stream()
                    .mapToLong(s -> s.request.inputTokens() + s.generated)
                    .sum();
            return Math.round((7 + tokens + 0.01 * attention + 3 * decoders.size() + 0.1 * context) * 1e6);
        }

        private void start(State s, int held) {
            waiting.remove(s);
            running.add(s);
            s.computed = held;
            events.add(now + " admitted " + s.request.id() + " with " + held);
        }

        private void finish() {
            for (State s : decoders) {
                s.generated++;
                if (s.generated == s.total) {
                    end(s);
                }
            }
            for (int i = 0; i < chunked.size(); i++) {
                State s = chunked.get(i);
                fill(s, s.computed + chunks.get(i));
                if (s.decoding()) {
                    events.add(now + " first " + s.request.id());
                    s.generated = 1;
                    if (s.generated == s.total) {
                        end(s);
                    }
                }
            }
        }

        private void fill(State s, int tokens) {
            int[] blocks = s.request.blocks();
            for (int i = 0; i < blocks.length; i++) {
                if ((i + 1) * 8 <= tokens || tokens == s.request.inputTokens()) {
                    cache.fill(blocks[i]);
                }
            }
            s.computed = tokens;
        }

        private void end(State s) {
            cache.unpin(s.request.blocks(), MODEL.blocksFor(room0(s)));
            running.remove(s);
            events.add(now + " end " + s.request.id());
        }

        /** Output tokens that room was taken for on admission. */
        private static int room0(State s) {
            return s.total - (s.transferred() ? 1 : 0);
        }
    }
}

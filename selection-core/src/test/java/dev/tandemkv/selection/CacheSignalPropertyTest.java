package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.prompt;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.RankStatus;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.indexer.health.SignalAlarm;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.KvEventIngress;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Which ranks, and whether the whole signal, are believed, against a model that counts on its fingers. */
class CacheSignalPropertyTest {

    private static final int PATIENCE = 4;

    /** Announces the prompt that others share a block with, once, and never leaves. */
    private static final long WITNESS = 9;

    private enum Action {
        SERVE_ALONE,
        SERVE_SHARING,
        EVENT,
        LEAVE,
        JOIN,
        DOUBT,
        TRUST
    }

    private record Step(Action action, long worker) {}

    @Provide
    static Arbitrary<List<Step>> lives() {
        Arbitrary<Step> step = Combinators.combine(
                        Arbitraries.of(Action.class), Arbitraries.longs().between(1, 3))
                .as(Step::new);
        return step.list().ofMaxSize(60);
    }

    @Property(tries = 200)
    void anyLife_signalIsWhatTheModelCounts(@ForAll("lives") List<Step> steps) {
        Life life = new Life();
        for (Step step : steps) {
            life.play(step);
            life.check();
        }
    }

    private static final class Life {
        private final Set<Long> doubted = new HashSet<>();
        private final CoreFixture f;

        // ---- the model
        private final Set<Long> joined = new HashSet<>(Set.of(1L, 2L, 3L));
        private final Set<Long> seenDoubted = new HashSet<>();
        private final Set<Long> heard = new HashSet<>();
        private final Map<Long, Integer> unanswered = new HashMap<>();
        private int sinceEvent;
        private int withoutMatch;
        private int seed = 100;

        Life() {
            KvEventIngress ingress = new KvEventIngress() {
                @Override
                public Optional<RankStatus> status(PartitionKey partition, WorkerRank rank) {
                    LadderRung rung =
                            doubted.contains(rank.workerId()) ? LadderRung.APPROXIMATE : LadderRung.EXACT_INDEX;
                    return Optional.of(
                            new RankStatus(rank, Exactness.EXACT, OptionalLong.empty(), Double.NaN, 0, 0, rung, null));
                }
            };
            f = new CoreFixture(
                            SelectionConfig.builder().signalPatience(PATIENCE).build(),
                            SelectionHost.builder()
                                    .index(KvIndexSource.owned(ingress))
                                    .build())
                    .workers(3);
            f.core.upsert(worker(WITNESS).build());
            f.holds(WITNESS, prompt(1, 16), 1);
        }

        void play(Step step) {
            long id = step.worker();
            switch (step.action()) {
                case SERVE_ALONE -> serve(id, seed++, withoutMatch + 1);
                case SERVE_SHARING -> serve(id, 1, 0);
                case EVENT -> {
                    if (joined.contains(id)) {
                        f.holds(id, prompt(seed++, 16), 1);
                        heard.add(id);
                        unanswered.put(id, 0);
                        sinceEvent = 0;
                    }
                }
                case LEAVE -> {
                    if (joined.remove(id)) {
                        f.core.remove(id);
                        heard.remove(id);
                        seenDoubted.remove(id);
                        unanswered.remove(id);
                    }
                }
                case JOIN -> {
                    if (joined.add(id)) {
                        f.core.upsert(worker(id).build());
                    }
                }
                case DOUBT -> look(() -> doubted.add(id));
                case TRUST -> look(() -> doubted.remove(id));
            }
        }

        private void serve(long id, int promptSeed, int withoutMatchThen) {
            if (joined.contains(id)) {
                f.book(request(promptSeed, 64).pinnedWorker(WorkerRank.of(id))).close();
                unanswered.merge(id, 1, Integer::sum);
                sinceEvent++;
                withoutMatch = withoutMatchThen;
            }
        }

        /** The ingress is asked with the next lookup a second later. */
        private void look(Runnable change) {
            change.run();
            f.time.advance(Duration.ofSeconds(1));
            f.select(request(seed++, 64).pinnedWorker(WorkerRank.of(WITNESS)));
            seenDoubted.clear();
            seenDoubted.addAll(doubted);
            seenDoubted.retainAll(joined);
        }

        void check() {
            List<WorkerRank> below = joined.stream()
                    .sorted()
                    .filter(id -> seenDoubted.contains(id)
                            || unanswered.getOrDefault(id, 0) >= (heard.contains(id) ? PATIENCE : 1))
                    .map(WorkerRank::of)
                    .toList();
            Set<SignalAlarm> alarms = EnumSet.noneOf(SignalAlarm.class);
            if (sinceEvent >= PATIENCE) {
                alarms.add(SignalAlarm.NO_EVENTS);
            }
            if (withoutMatch >= PATIENCE) {
                alarms.add(SignalAlarm.ZERO_OVERLAP);
            }
            LadderRung rung = alarms.isEmpty() ? LadderRung.EXACT_INDEX : LadderRung.LOAD_ONLY;
            assertThat(f.core.cacheSignal(PartitionKey.DEFAULT)).contains(new CacheSignal(rung, alarms, below));
        }
    }
}

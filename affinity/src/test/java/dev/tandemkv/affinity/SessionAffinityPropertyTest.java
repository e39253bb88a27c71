package dev.tandemkv.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.affinity.NaiveAffinity.Request;
import dev.tandemkv.affinity.NaiveAffinity.Row;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.jspecify.annotations.Nullable;

/** Several requests on few sessions, interleaved at every step, against the naive table. */
class SessionAffinityPropertyTest {

    enum Kind {
        ACQUIRE,
        COMMIT,
        CLOSE,
        INVALIDATE,
        FIRST_TOKEN,
        CANCEL,
        JOIN,
        APPLY,
        TOMBSTONE,
        REMOVE_WORKER,
        STEP,
        MINUTE
    }

    /** One act; the numbers pick among what there is. */
    record Act(Kind kind, int who, int session, int target, int version) {

        String sessionId() {
            return "s" + session % 3;
        }

        AffinityTarget to() {
            long worker = 7 + target % 2;
            int rank = target / 2 % 3;
            return rank == 2 ? AffinityTarget.ofWorker(worker) : new AffinityTarget(worker, rank);
        }

        @Nullable
        AffinityTarget explicit() {
            return version % 4 == 0 ? to() : null;
        }
    }

    @Provide
    Arbitrary<List<Act>> acts() {
        Arbitrary<Kind> kinds = Arbitraries.frequency(
                net.jqwik.api.Tuple.of(8, Kind.ACQUIRE),
                net.jqwik.api.Tuple.of(8, Kind.COMMIT),
                net.jqwik.api.Tuple.of(6, Kind.CLOSE),
                net.jqwik.api.Tuple.of(2, Kind.INVALIDATE),
                net.jqwik.api.Tuple.of(3, Kind.FIRST_TOKEN),
                net.jqwik.api.Tuple.of(1, Kind.CANCEL),
                net.jqwik.api.Tuple.of(2, Kind.JOIN),
                net.jqwik.api.Tuple.of(3, Kind.APPLY),
                net.jqwik.api.Tuple.of(1, Kind.TOMBSTONE),
                net.jqwik.api.Tuple.of(1, Kind.REMOVE_WORKER),
                net.jqwik.api.Tuple.of(5, Kind.STEP),
                net.jqwik.api.Tuple.of(1, Kind.MINUTE));
        Arbitrary<Integer> number = Arbitraries.integers().between(0, 99);
        return Combinators.combine(kinds, number, number, number, number)
                .as(Act::new)
                .list()
                .ofMaxSize(80);
    }

    @Property(tries = 400, edgeCases = EdgeCasesMode.NONE)
    void hardTable_anyInterleaving_isTheNaiveTable(@ForAll("acts") List<Act> acts) {
        new Run(AffinityMode.HARD, RebindMoment.ON_FIRST_TOKEN).play(acts);
    }

    @Property(tries = 400, edgeCases = EdgeCasesMode.NONE)
    void softTable_anyInterleaving_isTheNaiveTable(@ForAll("acts") List<Act> acts, @ForAll RebindMoment moment) {
        new Run(AffinityMode.SOFT, moment).play(acts);
    }

    /** A request in both tables at once. */
    private static final class Twin {
        final Request naive;

        @Nullable
        AffinityWait wait;

        @Nullable
        AffinityHold hold;

        @Nullable
        AffinityLease lease;

        @Nullable
        Throwable failure;

        Twin(Request naive) {
            this.naive = naive;
        }
    }

    private static final class Run {
        private final VirtualTime time = new VirtualTime();
        private final SessionAffinity table;
        private final AffinityReplicaApplier applier;
        private final NaiveAffinity naive;
        private final long epoch;
        private final List<Twin> twins = new ArrayList<>();

        Run(AffinityMode mode, RebindMoment moment) {
            AffinityConfig config = AffinityConfig.builder(Duration.ofSeconds(10))
                    .mode(mode)
                    .rebindMoment(moment)
                    .maxEntries(2)
                    .maxWaitersPerSession(2)
                    .maxInitializing(Duration.ofSeconds(3))
                    .tombstoneRetention(Duration.ofSeconds(20))
                    .build();
            table = SessionAffinity.builder(config, time, time.clock(), time).build();
            applier = new AffinityReplicaApplier(table, t -> true);
            epoch = time.clock().instant().getEpochSecond() * 1_000_000_000L;
            naive = new NaiveAffinity(config, epoch);
        }

        void play(List<Act> acts) {
            for (Act act : acts) {
                run(act);
                compare();
            }
            for (Twin twin : twins) {
                end(twin);
                compare();
            }
            for (int i = 0; i < 80; i++) {
                step();
            }
            compare();
            assertThat(table.stats().entries()).as("nothing outlives its use").isZero();
            assertThat(table.stats().openHandles()).isZero();
            assertThat(table.stats().waiters()).isZero();
            assertThat(time.pending()).as("only the reaper").isEqualTo(1);
            table.close();
        }

        private void run(Act act) {
            switch (act.kind) {
                case ACQUIRE -> acquire(act.sessionId(), act.explicit());
                case COMMIT -> with(act, twin -> twin.hold != null, twin -> commit(twin, act.to()));
                case CLOSE -> with(act, twin -> twin.hold != null || twin.lease != null, this::close);
                case INVALIDATE -> with(act, twin -> twin.hold != null || twin.lease != null, this::invalidate);
                case FIRST_TOKEN ->
                    with(act, twin -> twin.lease != null, twin -> {
                        twin.lease.firstToken();
                        naive.firstToken(twin.naive);
                    });
                case CANCEL -> with(act, twin -> twin.wait != null, this::cancel);
                case JOIN -> join(act.sessionId(), act.to());
                case APPLY -> apply(act, act.to());
                case TOMBSTONE -> apply(act, null);
                case REMOVE_WORKER -> {
                    long worker = act.to().workerId();
                    assertThat(table.removeTargets(t -> t.workerId() == worker)).isEqualTo(naive.removeWorker(worker));
                }
                case STEP -> step();
                case MINUTE -> {
                    for (int i = 0; i < 30; i++) {
                        step();
                    }
                }
            }
        }

        private void with(Act act, java.util.function.Predicate<Twin> fits, java.util.function.Consumer<Twin> what) {
            List<Twin> fitting = twins.stream().filter(fits).toList();
            if (!fitting.isEmpty()) {
                what.accept(fitting.get(act.who % fitting.size()));
            }
        }

        private void acquire(String session, @Nullable AffinityTarget explicit) {
            Twin twin = new Twin(naive.acquire(session, explicit));
            Acquisition acquired;
            try {
                acquired = table.tryAcquire(session, explicit);
            } catch (SessionRefusedException e) {
                assertThat(twin.naive.state).isEqualTo("refused");
                return;
            }
            if (acquired instanceof Acquisition.Held held) {
                twin.hold = held.hold();
            } else if (acquired instanceof Acquisition.Waiting waiting) {
                twin.wait = waiting.turn();
                twin.wait.hold().whenComplete((hold, failure) -> {
                    twin.wait = null;
                    twin.hold = hold;
                    twin.failure = failure;
                });
            } else {
                UnpinnedCause cause = ((Acquisition.Unpinned) acquired).cause();
                assertThat(twin.naive.state).isEqualTo(cause == UnpinnedCause.TABLE_FULL ? "full" : "crowded");
                return;
            }
            twins.add(twin);
        }

        private void commit(Twin twin, AffinityTarget to) {
            naive.commit(twin.naive, to);
            AffinityHold hold = twin.hold;
            twin.hold = null;
            try {
                twin.lease = hold.commit(to);
            } catch (SessionRefusedException e) {
                twin.failure = e;
            }
        }

        private void close(Twin twin) {
            naive.close(twin.naive);
            if (twin.hold != null) {
                twin.hold.close();
            }
            if (twin.lease != null) {
                twin.lease.close();
                twin.lease.close();
            }
            twin.hold = null;
            twin.lease = null;
        }

        private void invalidate(Twin twin) {
            naive.invalidate(twin.naive);
            if (twin.hold != null) {
                twin.hold.invalidate();
            }
            if (twin.lease != null) {
                twin.lease.invalidate();
            }
            twin.hold = null;
            twin.lease = null;
        }

        private void cancel(Twin twin) {
            naive.cancel(twin.naive);
            twin.wait.close();
        }

        private void join(String session, AffinityTarget to) {
            Twin twin = new Twin(naive.join(session, to));
            twin.lease = table.joinInitializing(session, to).orElse(null);
            assertThat(twin.lease != null).isEqualTo(twin.naive.state.equals("lease"));
            twins.add(twin);
        }

        /** Around the version that the session has, so that older, equal and newer ones all occur. */
        private void apply(Act act, @Nullable AffinityTarget target) {
            Row row = naive.rows.get(act.sessionId());
            long around = row == null || !row.bound() ? epoch : row.sequence;
            long sequence = around + act.version % 5 - 2;
            long writer = act.version / 5 % 3;
            assertThat(applier.apply(new AffinityReplicaRecord(
                            PartitionKey.DEFAULT, act.sessionId(), target, new AffinityVersion(sequence, writer), 55)))
                    .isEqualTo(naive.apply(act.sessionId(), target, sequence, writer));
        }

        private void step() {
            naive.step();
            time.advance(Duration.ofNanos(NaiveAffinity.STEP));
        }

        private void end(Twin twin) {
            if (twin.wait != null) {
                cancel(twin);
            } else if (twin.hold != null || twin.lease != null) {
                close(twin);
            }
        }

        private void compare() {
            table.checkInvariants();
            assertThat(table.stats().entries()).isEqualTo(naive.rows.size());
            assertThat(table.stats().tombstones()).isEqualTo(naive.tombstones.size());
            assertThat(table.stats().waiters())
                    .isEqualTo(naive.rows.values().stream()
                            .mapToInt(r -> r.waiters.size())
                            .sum());
            assertThat(table.stats().activeLeases())
                    .isEqualTo(naive.rows.values().stream()
                            .mapToLong(r -> r.leases)
                            .sum());
            for (int i = 0; i < 3; i++) {
                String session = "s" + i;
                Row row = naive.rows.get(session);
                boolean live = row != null && row.bound() && !(row.leases == 0 && row.deadline <= naive.now);
                AffinityBinding binding = table.find(session).orElse(null);
                assertThat(binding)
                        .isEqualTo(
                                live
                                        ? new AffinityBinding(
                                                row.target,
                                                row.revision,
                                                new AffinityVersion(row.sequence, row.writer),
                                                row.leases,
                                                row.deadline)
                                        : null);
            }
            for (Twin twin : twins) {
                String state = twin.wait != null
                        ? "waiting"
                        : twin.hold != null ? "hold" : twin.lease != null ? "lease" : "over";
                boolean over = !List.of("waiting", "hold", "lease").contains(twin.naive.state);
                assertThat(state).isEqualTo(over ? "over" : twin.naive.state);
                if (twin.hold != null) {
                    assertThat(twin.hold.target().orElse(null)).isEqualTo(twin.naive.target);
                }
            }
        }
    }
}

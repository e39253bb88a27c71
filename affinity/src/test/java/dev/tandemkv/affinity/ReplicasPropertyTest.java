package dev.tandemkv.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.time.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;

/**
 * Two to four replicas whose records are delayed, reordered, doubled and lost, while workers leave and come back. Once messages flow
 * again and each replica has served each session once, all of them have the same binding for it, to a worker that is live.
 */
class ReplicasPropertyTest {

    enum Kind {
        BEGIN,
        END,
        INVALIDATE,
        DELIVER,
        DOUBLE,
        LOSE,
        LEAVE,
        RETURN,
        ADVANCE
    }

    record Act(Kind kind, int a, int b, int c) {}

    @Provide
    Arbitrary<List<Act>> acts() {
        Arbitrary<Integer> number = Arbitraries.integers().between(0, 999);
        Arbitrary<Kind> kinds = Arbitraries.frequency(
                Tuple.of(8, Kind.BEGIN),
                Tuple.of(6, Kind.END),
                Tuple.of(1, Kind.INVALIDATE),
                Tuple.of(12, Kind.DELIVER),
                Tuple.of(2, Kind.DOUBLE),
                Tuple.of(3, Kind.LOSE),
                Tuple.of(1, Kind.LEAVE),
                Tuple.of(1, Kind.RETURN),
                Tuple.of(3, Kind.ADVANCE));
        return Combinators.combine(kinds, number, number, number)
                .as(Act::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(120);
    }

    @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
    void replicas_anyChaos_convergeOnceMessagesFlow(
            @ForAll @IntRange(min = 2, max = 4) int count, @ForAll AffinityMode mode, @ForAll("acts") List<Act> acts) {
        Fleet fleet = new Fleet(count, mode);
        acts.forEach(fleet::run);
        fleet.settle();
    }

    private record Message(int to, AffinityReplicaRecord record) {}

    private static final class Fleet {
        private static final int SESSIONS = 3;
        private static final int WORKERS = 4;

        private final VirtualTime time = new VirtualTime();
        private final List<SessionAffinity> tables = new ArrayList<>();
        private final List<AffinityReplicaApplier> appliers = new ArrayList<>();
        private final List<Message> inFlight = new ArrayList<>();
        private final List<AffinityLease> leases = new ArrayList<>();
        private final Set<Long> departed = new HashSet<>();
        private boolean flowing;

        Fleet(int count, AffinityMode mode) {
            AffinityConfig config = AffinityConfig.builder(Duration.ofSeconds(10))
                    .mode(mode)
                    .rebindMoment(RebindMoment.ON_DISPATCH)
                    .build();
            for (int i = 0; i < count; i++) {
                SessionAffinity table = SessionAffinity.builder(config, time, time.clock(), time)
                        .build();
                tables.add(table);
                appliers.add(new AffinityReplicaApplier(table, this::isLive));
            }
            for (int i = 0; i < count; i++) {
                int from = i;
                tables.get(i).startReplication(i + 1, () -> CompletableFuture.completedStage(r -> send(from, r)));
            }
        }

        private boolean isLive(AffinityTarget target) {
            return !departed.contains(target.workerId());
        }

        private boolean send(int from, AffinityReplicaRecord record) {
            for (int to = 0; to < tables.size(); to++) {
                // A replica hears itself too; it must not mind.
                Message message = new Message(to, record);
                if (flowing) {
                    appliers.get(to).apply(record);
                } else {
                    inFlight.add(message);
                }
            }
            return from >= 0;
        }

        void run(Act act) {
            switch (act.kind) {
                case BEGIN -> begin(act.a % tables.size(), "s" + act.b % SESSIONS, act.c % WORKERS);
                case END -> take(leases, act.a).ifPresent(AffinityLease::close);
                case INVALIDATE -> take(leases, act.a).ifPresent(AffinityLease::invalidate);
                case DELIVER -> take(inFlight, act.a).ifPresent(this::deliver);
                case DOUBLE -> {
                    if (!inFlight.isEmpty()) {
                        inFlight.add(inFlight.get(act.a % inFlight.size()));
                    }
                }
                case LOSE -> take(inFlight, act.a);
                case LEAVE -> {
                    // One worker always stays.
                    if (departed.size() < WORKERS - 1) {
                        departed.add((long) (act.a % WORKERS));
                    }
                }
                case RETURN -> departed.remove((long) (act.a % WORKERS));
                case ADVANCE -> time.advance(Duration.ofMillis(act.a * 5L));
            }
        }

        private static <T> Optional<T> take(List<T> from, int which) {
            return from.isEmpty() ? Optional.empty() : Optional.of(from.remove(which % from.size()));
        }

        private void deliver(Message message) {
            appliers.get(message.to).apply(message.record);
        }

        private void begin(int replica, String session, int preferred) {
            AffinityResolver resolver = new AffinityResolver(tables.get(replica));
            AffinityHold hold = Tables.now(resolver.resolve(SessionRequest.of(session, this::isLive)))
                    .orElseThrow();
            boolean follows = hold.steering() == AffinityHold.Steering.REQUIRED;
            AffinityTarget dispatched =
                    follows ? hold.target().orElseThrow() : new AffinityTarget(liveWorker(preferred), 0);
            resolver.commitOrFailover(hold, dispatched, this::isLive).ifPresent(leases::add);
        }

        private long liveWorker(int preferred) {
            for (int i = 0; ; i++) {
                long worker = (preferred + i) % WORKERS;
                if (!departed.contains(worker)) {
                    return worker;
                }
            }
        }

        void settle() {
            leases.forEach(AffinityLease::close);
            leases.clear();
            inFlight.forEach(this::deliver);
            inFlight.clear();
            flowing = true;
            List<AffinityVersion> newest = new ArrayList<>();
            for (int session = 0; session < SESSIONS; session++) {
                newest.add(newestLive("s" + session));
                for (int replica = 0; replica < tables.size(); replica++) {
                    // In soft mode a round that follows the binding: a session that keeps moving has nothing to
                    // converge to.
                    Optional<AffinityTarget> bound = tables.get(replica).query("s" + session, null);
                    begin(
                            replica,
                            "s" + session,
                            bound.map(t -> (int) t.workerId()).orElse(session));
                    leases.remove(leases.size() - 1).close();
                }
            }
            for (int session = 0; session < SESSIONS; session++) {
                AffinityBinding first = tables.get(0).find("s" + session).orElseThrow();
                assertThat(isLive(first.target())).isTrue();
                assertThat(first.version()).as("no older binding has won").isGreaterThanOrEqualTo(newest.get(session));
                for (SessionAffinity table : tables) {
                    AffinityBinding own = table.find("s" + session).orElseThrow();
                    assertThat(own.target()).isEqualTo(first.target());
                    assertThat(own.version()).isEqualTo(first.version());
                    assertThat(own.activeLeases()).isZero();
                }
            }
            for (SessionAffinity table : tables) {
                table.checkInvariants();
                assertThat(table.stats().openHandles()).isZero();
                assertThat(table.stats().publishDropped()).isZero();
            }
            time.advance(Duration.ofSeconds(20));
            for (SessionAffinity table : tables) {
                assertThat(table.stats().entries()).as("all idle, all gone").isZero();
                table.close();
            }
        }

        private AffinityVersion newestLive(String session) {
            return tables.stream()
                    .flatMap(table -> table.find(session).stream())
                    .filter(binding -> isLive(binding.target()))
                    .map(AffinityBinding::version)
                    .max(AffinityVersion::compareTo)
                    .orElse(new AffinityVersion(0, 0));
        }
    }
}

package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.ReplicaFleet.Replica;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.SelectionConfigBuilder;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How often what is booked and bound is told when gateways join and ask. */
class ReplicationJoinTest {

    private static final int WORKERS = 3;
    private static final int BOOKINGS = 5;

    private final ReplicaFleet fleet = new ReplicaFleet();

    // ---- joins

    /** Once by its owner to whoever is new, once more to all who asked after that; the last to be told of the joiner is asked no more. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void join_tellsABookingTwiceAtMost_howeverManyMembersThereAre(int members) {
        List<Replica> all = members(members, SelectionConfig.builder());
        Replica joiner = fleet.replica().workers(WORKERS);
        fleet.time.advance(Duration.ofSeconds(5));
        long told = 0;
        for (Replica member : all) {
            for (int i = 0; i < BOOKINGS; i++) {
                String id = id(member, i);
                assertThat(said(member, "AddRequest", id)).as(id).isBetween(1L, 2L);
            }
            told += member.stats().told();
        }
        assertThat(told).isEqualTo((2L * members - 1) * BOOKINGS);
        for (long id = 1; id <= WORKERS; id++) {
            assertThat(joiner.f.load(id)).isEqualTo(all.get(0).f.load(id));
        }
        assertThat(joiner.f.core.stats().reservations()).isEqualTo(members * BOOKINGS);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void join_tellsASessionTwiceAtMost_byEachWhoKnowsIt(int members) {
        SelectionConfigBuilder sticky = SelectionConfig.builder().sessionAffinityTtl(Duration.ofMinutes(5));
        List<Replica> all = members(members, sticky);
        all.get(0).f.book(request(99, 64).session(SessionContext.of("s"))).close();
        fleet.flow();
        all.forEach(member -> member.channel.published.clear());
        fleet.replica(new TappedChannel(fleet.bus.join()), sticky).workers(WORKERS);
        fleet.time.advance(Duration.ofSeconds(5));
        for (Replica member : all) {
            assertThat(said(member, "remaining_ms", "s")).isBetween(1L, 2L);
        }
    }

    /** Members that know each other, with bookings of their own, long after they joined. */
    private List<Replica> members(int count, SelectionConfigBuilder config) {
        List<Replica> members = new ArrayList<>();
        for (int m = 0; m < count; m++) {
            members.add(
                    fleet.replica(new TappedChannel(fleet.bus.join()), config).workers(WORKERS));
        }
        fleet.time.advance(Duration.ofSeconds(5));
        for (Replica member : members) {
            for (int i = 0; i < BOOKINGS; i++) {
                member.f.book(request(i, 64, id(member, i)));
            }
        }
        fleet.flow();
        members.forEach(member -> member.channel.published.clear());
        return members;
    }

    private static String id(Replica member, int i) {
        return "r" + i + " of " + member.channel.processId().orElseThrow();
    }

    private static long said(Replica by, String word, String id) {
        return by.channel.published.stream()
                .filter(message -> message.contains(word) && message.contains('"' + id + '"'))
                .count();
    }

    // ---- asks

    @Test
    void asksOfAWorker_withinThePace_areAnsweredOnce_aLaterOneAnew() {
        Replica a = owner();
        Replica b = fleet.replica().workers(2);
        String ask = answeredAsk(a, b);
        for (int i = 0; i < 50; i++) {
            b.channel.repeat(ask);
        }
        assertThat(said(a, "AddRequest", "on 2")).as("the pace has not passed").isZero();
        fleet.answer();
        assertThat(said(a, "AddRequest", "on 2")).isEqualTo(1);
        assertThat(said(a, "AddRequest", "on 1")).as("nobody asked").isZero();
        b.channel.repeat(ask);
        fleet.answer();
        assertThat(said(a, "AddRequest", "on 2")).isEqualTo(2);
        fleet.time.advance(Duration.ofSeconds(5));
        assertThat(said(a, "AddRequest", "on 2")).as("and no more").isEqualTo(2);
    }

    @Test
    void askWhileItsAnswerIsUnderWay_isAnsweredAgain() {
        Replica a = owner();
        Replica b = fleet.replica().workers(2);
        String ask = answeredAsk(a, b);
        a.channel.before = (topic, message) -> {
            a.channel.before = (t, m) -> {};
            b.channel.repeat(ask);
        };
        b.channel.repeat(ask);
        fleet.answer();
        fleet.answer();
        assertThat(said(a, "AddRequest", "on 2")).isEqualTo(2);
    }

    @Test
    void askWhileAJoinerIsTold_isAnsweredAgain() {
        Replica a = owner();
        Replica b = fleet.replica().workers(2);
        fleet.answer();
        fleet.time.advance(Duration.ofSeconds(5));
        String ask = b.channel.last("Ask");
        a.channel.published.clear();
        a.channel.before = (topic, message) -> {
            a.channel.before = (t, m) -> {};
            b.channel.repeat(ask);
        };
        fleet.replica();
        fleet.answer();
        assertThat(said(a, "AddRequest", "on 2")).as("the joiner is told").isEqualTo(1);
        fleet.answer();
        assertThat(said(a, "AddRequest", "on 2")).as("and who asked meanwhile").isEqualTo(2);
    }

    /** It hears, and is not heard: what it was told came too early, what it asked reached nobody. */
    @Test
    void askThatNobodyHeard_isRepeatedToWhoBeginsToListen() {
        Replica a = owner();
        Replica b = fleet.replica();
        fleet.answer();
        b.channel.drops = message -> true;
        b.workers(2);
        fleet.answer();
        assertThat(b.f.core.stats().reservations()).isZero();
        b.channel.drops = message -> false;
        b.channel.peerListens();
        fleet.time.advance(Duration.ofSeconds(1));
        assertThat(b.f.load(1)).isEqualTo(a.f.load(1));
        assertThat(b.f.load(2)).isEqualTo(a.f.load(2));
    }

    @Test
    void asksForManyWorkers_areBounded_andNoneIsForgotten() {
        Replica a = owner();
        Replica b = fleet.replica().workers(2);
        String ask = answeredAsk(a, b);
        for (int id = 1_000; id < 18_000; id++) {
            b.channel.repeat(ask.replace("\"worker_id\":2", "\"worker_id\":" + id));
        }
        b.channel.repeat(ask);
        assertThat(said(a, "AddRequest", "on 2")).as("answered by itself").isEqualTo(1);
        fleet.answer();
        b.channel.repeat(ask);
        fleet.answer();
        assertThat(said(a, "AddRequest", "on 2")).isEqualTo(2);
    }

    @Test
    void schedulerThatRefuses_asksAreAnsweredAtOnce() {
        asksAreAnsweredAtOnce((delay, work) -> {
            throw new RejectedExecutionException("shut down");
        });
    }

    @Test
    void schedulerThatFails_asksAreAnsweredAtOnce() {
        asksAreAnsweredAtOnce((delay, work) -> {
            if (delay.equals(Duration.ofMillis(10))) {
                throw new InternalError("no thread can be made");
            }
            return fleet.time.schedule(delay, work);
        });
    }

    private void asksAreAnsweredAtOnce(Scheduler refuses) {
        TappedChannel channel = new TappedChannel(fleet.bus.join());
        SelectionCore a = SelectionCore.builder()
                .config(SelectionConfig.builder().replicaSync(true).build())
                .host(SelectionHost.builder().replicaChannel(channel).build())
                .ticker(fleet.time)
                .clock(fleet.time.clock())
                .scheduler(refuses)
                .build();
        a.upsert(worker(1).build());
        now(a.selectAndReserve(request(1, 64, "r").build()));
        for (int i = 1; i <= 3; i++) {
            Replica joiner = fleet.replica().workers(1);
            fleet.flow();
            assertThat(joiner.load().activeRequests()).isEqualTo(1);
        }
    }

    /** Whoever leaves the step tells them, and that may be a request. */
    @Test
    void manyBookings_areToldAFewAtATime_andAllOfThem() {
        Replica a = fleet.replica().workers(1);
        for (int i = 0; i < 1_000; i++) {
            a.f.book(request(i, 64, "r" + i));
        }
        Replica b = fleet.replica().workers(1);
        fleet.time.advance(Duration.ofSeconds(5));
        String ask = b.channel.last("Ask");
        a.channel.published.clear();
        b.channel.repeat(ask);
        fleet.answer();
        assertThat(a.channel.published).hasSizeBetween(1, 256);
        fleet.time.advance(Duration.ofSeconds(5));
        assertThat(a.channel.published).hasSize(1_000);
        assertThat(b.f.core.stats().reservations()).isEqualTo(1_000);
    }

    /** What the one has asked and the other has answered, whose words are counted from now on. */
    private String answeredAsk(Replica by, Replica asker) {
        fleet.answer();
        String ask = asker.channel.last("Ask");
        by.channel.published.clear();
        return ask;
    }

    /** Has booked one request on each of two workers. */
    private Replica owner() {
        Replica a = fleet.replica().workers(2);
        a.f.book(request(1, 64, "on 1").pinnedWorker(WorkerRank.of(1)));
        a.f.book(request(2, 64, "on 2").pinnedWorker(WorkerRank.of(2)));
        return a;
    }
}

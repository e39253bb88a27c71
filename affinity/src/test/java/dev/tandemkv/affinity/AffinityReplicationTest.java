package dev.tandemkv.affinity;

import static dev.tandemkv.affinity.Tables.TTL;
import static dev.tandemkv.affinity.Tables.target;
import static dev.tandemkv.affinity.Tables.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.VirtualTime;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Scenarios 25 to 33, the outcome table, and what is published when. */
class AffinityReplicationTest {

    private static final AffinityTarget W7 = target(7, 0);
    private static final AffinityTarget W8 = target(8, 0);
    private static final long OWN = 99;
    private static final long PEER = 7;

    private final Tables own = Tables.hard().replicated(OWN);
    private final AffinityReplicaApplier applier = new AffinityReplicaApplier(own.table, t -> t.workerId() != 404);

    private static AffinityReplicaRecord record(
            String session, @Nullable AffinityTarget target, long sequence, long writer, long origin) {
        return new AffinityReplicaRecord(
                PartitionKey.DEFAULT, session, target, new AffinityVersion(sequence, writer), origin);
    }

    private ReplicaApplyOutcome apply(@Nullable AffinityTarget target, long sequence, long writer) {
        return applier.apply(record("s", target, sequence, writer, PEER));
    }

    // ---- publish points ----

    @Test
    void request_shorterThanHalfTheTtl_publishesTwice() {
        AffinityLease lease = own.bind("s", W7);
        own.advance(4_999);
        lease.close();
        assertThat(own.published).hasSize(2);
        assertThat(own.published.get(0)).isEqualTo(own.published.get(1));
        assertThat(own.published.get(0).origin()).isEqualTo(OWN);
        assertThat(own.published.get(0).version().writerId()).isEqualTo(OWN);
        assertThat(own.table.stats().published()).isEqualTo(2);
    }

    @Test
    void query_acquisitionAndExpiry_publishNothing() {
        own.bound("s", W7);
        own.published.clear();
        own.table.query("s", null);
        own.hold("s").closeUnused();
        own.advance(60_000);
        assertThat(own.table.stats().entries()).isZero();
        assertThat(own.published).isEmpty();
    }

    @Test
    void foreignVersion_isRepublishedUnchanged() {
        apply(W7, 123, 7);
        own.hold("s").close();
        assertThat(own.published).containsExactly(record("s", W7, 123, 7, OWN));
    }

    @Test
    void invalidation_publishesATombstoneOfANewVersion() {
        AffinityLease lease = own.bind("s", W7);
        lease.invalidate();
        AffinityReplicaRecord last = own.published.get(own.published.size() - 1);
        assertThat(last.isTombstone()).isTrue();
        assertThat(last.version().isNewerThan(own.published.get(0).version())).isTrue();
    }

    @Test
    void fullQueue_isCountedAndTheCommitSucceeds() {
        own.sinkAccepts = false;
        own.bind("s", W7);
        assertThat(own.binding("s").target()).isEqualTo(W7);
        assertThat(own.table.stats().publishDropped()).isEqualTo(1);
        assertThat(own.table.stats().published()).isZero();
    }

    @Test
    void sinkThatThrows_isCountedAndTheCommitSucceeds() {
        Tables tables = Tables.hard();
        tables.table.startReplication(
                OWN,
                () -> CompletableFuture.completedStage(record -> {
                    throw new IllegalStateException("closed");
                }));
        tables.bind("s", W7).close();
        assertThat(tables.table.stats().publishDropped()).isEqualTo(2);
    }

    // ---- outcomes ----

    @Test
    void apply_toAnUnknownSession_inserts() {
        assertThat(apply(W7, 123, 7)).isEqualTo(ReplicaApplyOutcome.INSERTED);
        assertThat(own.binding("s").target()).isEqualTo(W7);
        assertThat(own.leases("s")).isZero();
        own.advance(10_000);
        assertThat(own.table.find("s")).isEmpty();
    }

    @Test
    void apply_beyondTheLimits_isRejected() {
        Tables one = Tables.with(c -> c.maxEntries(1)).bound("other", W7);
        AffinityReplicaApplier small = new AffinityReplicaApplier(one.table, t -> true);
        assertThat(small.apply(record("s", W7, 1, 1, 1))).isEqualTo(ReplicaApplyOutcome.REJECTED_CAPACITY);
        assertThat(small.apply(record("x".repeat(257), W7, 1, 1, 1)))
                .isEqualTo(ReplicaApplyOutcome.REJECTED_SESSION_ID);
        one.table.close();
        assertThat(small.apply(record("s", W7, 1, 1, 1))).isEqualTo(ReplicaApplyOutcome.REJECTED_CLOSED);
        assertThat(one.table.stats().applied(ReplicaApplyOutcome.REJECTED_CAPACITY))
                .isEqualTo(1);
    }

    @Test
    void apply_duringAFirstDispatch_isIgnored() {
        AffinityHold hold = own.hold("s");
        assertThat(apply(W7, 123, 7)).isEqualTo(ReplicaApplyOutcome.IGNORED_INITIALIZING);
        assertThat(apply(null, 123, 7)).isEqualTo(ReplicaApplyOutcome.IGNORED_INITIALIZING);
        hold.commit(W8);
        assertThat(own.binding("s").target()).isEqualTo(W8);
    }

    @Test
    void apply_toAnExpiredBinding_replacesItWhateverTheVersion() {
        own.advance(5_000);
        apply(W7, 500, 7);
        own.advance(10_000);
        assertThat(own.table.stats().entries()).isEqualTo(1);
        assertThat(apply(W8, 3, 7)).isEqualTo(ReplicaApplyOutcome.REPLACED_EXPIRED);
        assertThat(own.binding("s").version().sequence()).isEqualTo(3);
        own.table.checkInvariants();
    }

    @Test
    void apply_sameTarget_refreshesUnlessOlder() {
        apply(W7, 100, 7);
        own.advance(6_000);
        assertThat(apply(W7, 100, 7)).isEqualTo(ReplicaApplyOutcome.REFRESHED);
        assertThat(own.table.stats().duplicates()).isEqualTo(1);
        own.advance(6_000);
        assertThat(own.table.find("s")).as("a duplicate refreshes the TTL").isPresent();
        assertThat(apply(W7, 101, 7)).isEqualTo(ReplicaApplyOutcome.REFRESHED);
        assertThat(apply(W7, 100, 7)).isEqualTo(ReplicaApplyOutcome.IGNORED_CONFLICT);
        assertThat(own.table.stats().duplicates()).isEqualTo(1);
        assertThat(own.binding("s").version().sequence()).isEqualTo(101);
    }

    @Test
    void apply_otherTarget_replacesOnlyIfNewerAndKeepsRevisionAndLeases() {
        AffinityLease lease = own.bind("s", W7);
        AffinityBinding before = own.binding("s");
        long sequence = before.version().sequence();
        assertThat(apply(W8, sequence, OWN)).isEqualTo(ReplicaApplyOutcome.IGNORED_CONFLICT);
        assertThat(apply(W8, sequence - 1, 1_000)).isEqualTo(ReplicaApplyOutcome.IGNORED_CONFLICT);
        assertThat(apply(W8, sequence, OWN + 1)).isEqualTo(ReplicaApplyOutcome.REPLACED_NEWER);
        assertThat(own.binding("s").revision()).isEqualTo(before.revision());
        assertThat(own.leases("s")).isEqualTo(1);
        lease.invalidate();
        assertThat(own.binding("s").target()).as("a stale lease ends nothing").isEqualTo(W8);
        assertThat(own.leases("s")).isZero();
    }

    @Test
    void apply_sequencesAround2To63_areUnsigned() {
        Tables far = Tables.with(c -> c.maxClockSkew(Duration.ofDays(365)));
        VirtualTime late = new VirtualTime(Instant.parse("2262-01-01T00:00:00Z"));
        SessionAffinity table = SessionAffinity.builder(far.table.config(), late, late.clock(), late)
                .build();
        AffinityReplicaApplier unsigned = new AffinityReplicaApplier(table, t -> true);
        assertThat(unsigned.apply(record("s", W7, Long.MAX_VALUE, 1, 1))).isEqualTo(ReplicaApplyOutcome.INSERTED);
        assertThat(unsigned.apply(record("s", W8, Long.MIN_VALUE, 1, 1))).isEqualTo(ReplicaApplyOutcome.REPLACED_NEWER);
    }

    // ---- the checks before ----

    @Test
    void apply_ownOrigin_isIgnoredBeforeTheLivenessCheck() {
        AtomicInteger asked = new AtomicInteger();
        AffinityReplicaApplier counting = new AffinityReplicaApplier(own.table, t -> asked.incrementAndGet() > 0);
        assertThat(counting.apply(record("s", W7, 1, PEER, OWN))).isEqualTo(ReplicaApplyOutcome.IGNORED_SELF);
        assertThat(asked).hasValue(0);
    }

    @Test
    void apply_ownWriterButAnotherOrigin_isApplied() {
        assertThat(applier.apply(record("s", W7, 1, OWN, PEER))).isEqualTo(ReplicaApplyOutcome.INSERTED);
    }

    @Test
    void apply_otherPartition_isIgnored() {
        AffinityReplicaRecord other =
                new AffinityReplicaRecord(PartitionKey.ofModel("other"), "s", W7, new AffinityVersion(1, 1), PEER);
        assertThat(applier.apply(other)).isEqualTo(ReplicaApplyOutcome.IGNORED_PARTITION);
    }

    @Test
    void apply_unknownWorker_isIgnoredButAdvancesTheClock() {
        long ahead = own.bind("a", W7) == null ? 0 : own.binding("a").version().sequence() + 1_000_000;
        assertThat(apply(target(404, 0), ahead, 7)).isEqualTo(ReplicaApplyOutcome.IGNORED_TARGET);
        own.bind("s", W7);
        assertThat(own.binding("s").version().sequence()).isEqualTo(ahead + 1);
    }

    @Test
    void apply_beyondTheSkew_isRejectedAndTheClockStays() {
        own.bind("a", W7);
        long next = own.binding("a").version().sequence() + 1;
        assertThat(apply(W7, -1L, 7)).isEqualTo(ReplicaApplyOutcome.REJECTED_SKEW);
        assertThat(apply(W7, next + Duration.ofHours(25).toNanos(), 7)).isEqualTo(ReplicaApplyOutcome.REJECTED_SKEW);
        assertThat(apply(null, -1L, 7)).isEqualTo(ReplicaApplyOutcome.REJECTED_SKEW);
        assertThat(own.table.stats().applied(ReplicaApplyOutcome.REJECTED_SKEW)).isEqualTo(3);
        own.bind("b", W7);
        assertThat(own.binding("b").version().sequence()).isEqualTo(next);
    }

    @Test
    void restart_laterInTime_outranksTheEarlierLife() {
        own.bound("s", W7);
        Tables later = Tables.hard();
        later.advance(0);
        VirtualTime nextDay = new VirtualTime(Instant.parse("2026-01-02T00:00:00Z"));
        SessionAffinity restarted = SessionAffinity.builder(own.table.config(), nextDay, nextDay.clock(), nextDay)
                .build();
        ((Acquisition.Held) restarted.tryAcquire("s", null)).hold().commit(W8);
        assertThat(restarted
                        .find("s")
                        .orElseThrow()
                        .version()
                        .isNewerThan(own.binding("s").version()))
                .isTrue();
    }

    // ---- tombstones ----

    @Test
    void tombstone_endsThePeersCopyUnlessThatIsNewer() {
        apply(W7, 100, 7);
        assertThat(apply(null, 99, 7)).isEqualTo(ReplicaApplyOutcome.IGNORED_CONFLICT);
        assertThat(apply(null, 101, 7)).isEqualTo(ReplicaApplyOutcome.REMOVED);
        assertThat(own.table.find("s")).isEmpty();
        own.table.checkInvariants();
    }

    @Test
    void kN1_tombstoneBeforeItsBinding_isRememberedForABoundedTime() {
        assertThat(apply(null, 100, 7)).isEqualTo(ReplicaApplyOutcome.REMEMBERED);
        assertThat(apply(W7, 99, 7)).isEqualTo(ReplicaApplyOutcome.IGNORED_CONFLICT);
        assertThat(apply(W7, 100, 7)).isEqualTo(ReplicaApplyOutcome.IGNORED_CONFLICT);
        assertThat(apply(W7, 101, 7)).isEqualTo(ReplicaApplyOutcome.INSERTED);

        assertThat(applier.apply(record("t", null, 100, 7, PEER))).isEqualTo(ReplicaApplyOutcome.REMEMBERED);
        own.advance(Duration.ofMinutes(10).toMillis());
        assertThat(own.table.stats().tombstones()).isZero();
        assertThat(applier.apply(record("t", W7, 99, 7, PEER))).isEqualTo(ReplicaApplyOutcome.INSERTED);
    }

    @Test
    void tombstones_areBoundedInNumber() {
        Tables few = Tables.with(c -> c.maxEntries(3));
        AffinityReplicaApplier small = new AffinityReplicaApplier(few.table, t -> true);
        for (int i = 0; i < 10; i++) {
            small.apply(record("s" + i, null, 100, 7, PEER));
        }
        assertThat(few.table.stats().tombstones()).isEqualTo(3);
    }

    @Test
    void removedIncarnation_isNotBroughtBackByALateRefresh() {
        apply(W7, 100, 7);
        own.table.removeTargets(t -> t.workerId() == 7);
        assertThat(apply(W7, 100, 7)).isEqualTo(ReplicaApplyOutcome.IGNORED_CONFLICT);
        assertThat(apply(W7, 101, 7)).isEqualTo(ReplicaApplyOutcome.INSERTED);
        assertThat(own.published).isEmpty();
    }

    // ---- two replicas ----

    /** Two tables in one time whose records reach each other at once. */
    private static final class Pair {
        final VirtualTime time = new VirtualTime();
        final SessionAffinity a = table();
        final SessionAffinity b = table();
        boolean connected = true;

        Pair() {
            connect(a, 1, b);
            connect(b, 2, a);
        }

        private SessionAffinity table() {
            return SessionAffinity.builder(AffinityConfig.builder(TTL).build(), time, time.clock(), time)
                    .build();
        }

        private void connect(SessionAffinity from, long origin, SessionAffinity to) {
            AffinityReplicaApplier peer = new AffinityReplicaApplier(to, t -> true);
            from.startReplication(
                    origin,
                    () -> CompletableFuture.completedStage(record -> {
                        if (connected) {
                            peer.apply(record);
                        }
                        return connected;
                    }));
        }

        static AffinityHold hold(SessionAffinity table) {
            return ((Acquisition.Held) table.tryAcquire("s", null)).hold();
        }

        void advance(long millis) {
            time.advance(Duration.ofMillis(millis));
        }
    }

    @Test
    void peerServesTheSession_theBindersCopyLivesOn() {
        Pair pair = new Pair();
        Pair.hold(pair.a).commit(W7).close();
        for (int turn = 0; turn < 3; turn++) {
            pair.advance(9_000);
            Pair.hold(pair.b).commit(W7).close();
        }
        assertThat(pair.a.query("s", null)).contains(W7);
    }

    @Test
    void leaseHeldForThreeTtls_thePeersCopyNeverExpires() {
        Pair pair = new Pair();
        AffinityLease lease = Pair.hold(pair.a).commit(W7);
        for (int i = 0; i < 300; i++) {
            pair.advance(100);
            assertThat(pair.b.query("s", null)).contains(W7);
        }
        assertThat(pair.a.stats().published())
                .as("every half to three quarters of the TTL")
                .isBetween(4L, 7L);
        lease.close();
    }

    @Test
    void invalidation_reachesThePeer() {
        Pair pair = new Pair();
        AffinityLease lease = Pair.hold(pair.a).commit(W7);
        assertThat(pair.b.query("s", null)).contains(W7);
        lease.invalidate();
        assertThat(pair.b.query("s", null)).isEmpty();
    }

    @Test
    void concurrentBindings_endOnTheHigherVersionEverywhere() {
        Pair pair = new Pair();
        AffinityHold atA = Pair.hold(pair.a);
        AffinityHold atB = Pair.hold(pair.b);
        atA.commit(W7);
        atB.commit(W8);
        assertThat(pair.a.query("s", null)).contains(W8);
        assertThat(pair.b.query("s", null)).contains(W8);
        assertThat(pair.a.find("s").orElseThrow().version())
                .isEqualTo(pair.b.find("s").orElseThrow().version());
    }

    @Test
    void bindingThatExpiredOnThePeer_comesBackWithTheEndOfTheRequest() {
        Pair pair = new Pair();
        AffinityLease lease = Pair.hold(pair.a).commit(W7);
        pair.connected = false;
        pair.advance(30_000);
        assertThat(pair.b.query("s", null)).isEmpty();
        pair.connected = true;
        lease.close();
        assertThat(pair.b.query("s", null)).contains(W7);
    }

    @Test
    void joiner_appliesASnapshotOfBindingsAndTombstones() {
        own.bound("a", W7).bound("b", W8);
        own.bind("c", W7).invalidate();
        own.hold("initializing");
        Tables joiner = Tables.hard();
        AffinityReplicaApplier joining = new AffinityReplicaApplier(joiner.table, t -> true);
        List<AffinityReminder> snapshot = own.table.snapshot(100);
        assertThat(snapshot).hasSize(3).allMatch(r -> r.record().origin() == OWN);
        snapshot.forEach(joining::apply);
        assertThat(joiner.table.query("a", null)).contains(W7);
        assertThat(joiner.table.query("b", null)).contains(W8);
        assertThat(joiner.table.stats().tombstones()).isEqualTo(1);
        joiner.bind("new", W7);
        assertThat(joiner.binding("new").version())
                .as("what the joiner binds next outranks all it has seen")
                .isGreaterThan(snapshot.stream()
                        .map(reminder -> reminder.record().version())
                        .max(AffinityVersion::compareTo)
                        .orElseThrow());
    }

    @Test
    void snapshot_ofATableFullOfTombstones_tellsTheBindingsFirst() {
        for (int i = 0; i < 5; i++) {
            own.bind("ended" + i, W7).invalidate();
        }
        own.bound("live", W8);
        assertThat(own.table.snapshot(1))
                .singleElement()
                .satisfies(r -> assertThat(r.record().sessionId()).isEqualTo("live"));
        assertThat(own.table.snapshot(10, t -> t.equals(W7))).isEmpty();
        assertThat(own.table.snapshot(10, t -> t.equals(W8))).hasSize(1);
    }

    @Test
    void reminder_isNoUse_theCopyEndsWhenTheBindingWould() {
        Tables joiner = Tables.hard();
        AffinityReplicaApplier joining = new AffinityReplicaApplier(joiner.table, t -> true);
        own.bound("s", W7);
        own.time.advance(TTL.dividedBy(4).multipliedBy(3));
        own.table.snapshot(10).forEach(joining::apply);
        assertThat(joiner.table.query("s", null)).contains(W7);
        // Back and forth, as replicas that come and go do.
        AffinityReplicaApplier back = new AffinityReplicaApplier(own.table, t -> true);
        joiner.table.snapshot(10).forEach(back::apply);
        joiner.time.advance(TTL.dividedBy(2));
        assertThat(joiner.table.query("s", null)).isEmpty();
        own.time.advance(TTL.dividedBy(2));
        assertThat(own.table.query("s", null)).isEmpty();
    }

    // ---- start-up ----

    @Test
    void start_isRefusedTwiceAndDoesNotChangeTheWriter() {
        CompletionStage<Void> second = own.table.startReplication(5, () -> {
            throw new AssertionError("not asked");
        });
        assertThatThrownBy(() -> second.toCompletableFuture().getNow(null)).hasCauseInstanceOf(ConflictException.class);
        own.bind("s", W7);
        assertThat(own.binding("s").version().writerId()).isEqualTo(OWN);
    }

    @Test
    void start_failedOrCancelled_mayBeTriedAgain() {
        Tables tables = Tables.hard();
        assertThat(tables.table
                        .startReplication(1, () -> {
                            throw new IllegalStateException("no socket");
                        })
                        .toCompletableFuture())
                .isCompletedExceptionally();
        CompletableFuture<AffinityReplicaSink> opening = new CompletableFuture<>();
        tables.table.startReplication(2, () -> opening);
        opening.cancel(false);
        tables.bind("before", W7);
        assertThat(tables.binding("before").version().writerId()).isZero();

        tables.replicated(3);
        tables.bind("s", W7);
        assertThat(tables.binding("s").version().writerId()).isEqualTo(3);
        assertThat(tables.published).hasSize(1);
        assertThatThrownBy(() -> tables.table.startReplication(0, () -> opening))
                .isInstanceOf(IllegalArgumentException.class);
    }

    // ---- the schema ----

    @Test
    void fields_roundTripWithUnsignedNumbers() {
        for (AffinityTarget target : new AffinityTarget[] {target(-1, -1), worker(7), null}) {
            AffinityReplicaRecord record =
                    new AffinityReplicaRecord(new PartitionKey("m", "g"), "s", target, new AffinityVersion(-2, -3), -4);
            assertThat(AffinityReplicaRecord.fromFields(record.toFields())).isEqualTo(record);
        }
        Map<String, @Nullable Object> fields =
                record("s", target(-1, 2), 123, 7, 99).toFields();
        assertThat(fields)
                .containsEntry("worker_id", new BigInteger("18446744073709551615"))
                .containsEntry("dp_rank", 2L)
                .containsEntry("sequence", 123L)
                .containsEntry("writer_id", 7L)
                .containsEntry("origin", 99L)
                .containsEntry("session_id", "s")
                .containsEntry("model_name", "default")
                .containsEntry("routing_group", "default");
    }

    @Test
    void fields_ofAPeerWithoutAnOrigin_countTheWriterAsPublisher() {
        Map<String, @Nullable Object> fields =
                new HashMap<>(record("s", W7, 123, 7, 99).toFields());
        fields.remove("origin");
        fields.put("worker_id", 7);
        fields.put("dp_rank", null);
        assertThat(AffinityReplicaRecord.fromFields(fields)).isEqualTo(record("s", worker(7), 123, 7, 7));
    }

    @Test
    void fields_missingOrOfTheWrongType_areRefusedWithoutTheirValue() {
        for (String field : List.of("session_id", "model_name", "routing_group", "sequence", "writer_id")) {
            Map<String, @Nullable Object> missing =
                    new HashMap<>(record("s", W7, 1, 2, 3).toFields());
            missing.remove(field);
            assertThatThrownBy(() -> AffinityReplicaRecord.fromFields(missing))
                    .isInstanceOfSatisfying(
                            BadRequestException.class,
                            e -> assertThat(e.field()).isEqualTo(field));
        }
        for (Object wrong : new Object[] {
            -1L, 1.5, "1", new BigInteger("18446744073709551616"), Double.NaN, new java.math.BigDecimal("1E+1000000000")
        }) {
            Map<String, @Nullable Object> fields =
                    new HashMap<>(record("s", W7, 1, 2, 3).toFields());
            fields.put("sequence", wrong);
            assertThatThrownBy(() -> AffinityReplicaRecord.fromFields(fields)).isInstanceOf(BadRequestException.class);
        }
        Map<String, @Nullable Object> rankOnly =
                new HashMap<>(record("s", null, 1, 2, 3).toFields());
        rankOnly.put("dp_rank", 1);
        assertThatThrownBy(() -> AffinityReplicaRecord.fromFields(rankOnly)).isInstanceOf(BadRequestException.class);
    }
}

package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.prompt;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.CatalogChanges;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.TrackingConfig.PrefillLoadModel;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import dev.tandemkv.selection.host.KvEventIngress;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.RemoteIndex;
import dev.tandemkv.selection.host.SelectionHost;
import dev.tandemkv.selection.policy.SelectionPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** The operations one by one: which forms they have, what they refuse, what is left of them after a close. */
class OperationsTest {

    private static final PartitionKey KEY = PartitionKey.DEFAULT;

    // ---- modes

    @Test
    void scenario63_advisoryBooking_refusedAndNothingTaken() {
        CoreFixture f = new CoreFixture().workers(1);
        SelectRequest advisory =
                request(1, 64, "a").mode(SelectRequest.Mode.ADVISORY).build();
        assertThat(f.failureOf(f.core.selectAndReserve(advisory))).isEqualTo(Kind.BAD_REQUEST);
        assertThat(f.failureOf(f.core.reserve(advisory))).isEqualTo(Kind.BAD_REQUEST);
        assertThat(f.failureOf(f.core.lease(advisory))).isEqualTo(Kind.BAD_REQUEST);
        assertThat(f.core.tryReserve(advisory)).isInstanceOf(Attempted.Refused.class);
        f.assertEmpty();
    }

    @Test
    void advisoryWithAnId_canBeReplayed() {
        CoreFixture f = new CoreFixture().workers(2);
        Selection advisory = f.select(request(1, 64, "a").mode(SelectRequest.Mode.ADVISORY));
        Reserved reserved = now(f.core.createReservation(ReservationRequest.replay(KEY, "a")));
        assertThat(reserved.booking().worker()).isEqualTo(advisory.worker());
        assertThat(f.load(advisory.worker()).potentialPrefillTokens()).isEqualTo(64);
    }

    @Test
    void trySelect_doneRefusedOrWouldWait() {
        CoreFixture f =
                new CoreFixture(SelectionConfig.builder().queueThreshold(0.0).build());
        f.core.upsert(worker(1).maxNumBatchedTokens(1_000L).build());
        assertThat(f.core.trySelect(request(1, 64).build())).isInstanceOf(Attempted.Done.class);
        assertThat(f.core.trySelect(
                        request(1, 64).pinnedWorker(WorkerRank.of(7)).build()))
                .isInstanceOf(Attempted.Refused.class);
        Booking busy = f.book(request(1, 64));
        assertThat(f.core.trySelect(request(1, 64).build())).isInstanceOf(Attempted.WouldWait.class);
        assertThat(f.core.tryReserve(request(1, 64).build())).isInstanceOf(Attempted.WouldWait.class);
        assertThat(f.core.loads().get(0).pendingRequests()).isZero();
        busy.close();
        f.assertEmpty();
    }

    @Test
    void trySelect_lookupElsewhere_wouldWaitAndTheLateAnswerChangesNothing() {
        List<CompletableFuture<List<RemoteIndex.Match>>> asked = new ArrayList<>();
        CoreFixture f = new CoreFixture(
                        SelectionConfig.DEFAULTS,
                        SelectionHost.builder()
                                .index(KvIndexSource.remote((partition, hashes) -> {
                                    asked.add(new CompletableFuture<>());
                                    return asked.get(asked.size() - 1);
                                }))
                                .build())
                .workers(1);
        assertThat(f.core.trySelect(request(1, 64).build())).isInstanceOf(Attempted.WouldWait.class);
        assertThat(f.core.tryReserve(request(1, 64).build())).isInstanceOf(Attempted.WouldWait.class);
        asked.forEach(lookup -> lookup.complete(List.of()));
        f.assertEmpty();
        assertThat(f.core.stats().booked()).isZero();
    }

    // ---- after a close

    @Test
    void scenario47_afterClose_whatChangesIsShutdownAndWhatReadsOrEndsWorks() {
        CoreFixture f = new CoreFixture().workers(2);
        Booking kept = f.book(request(1, 64, "kept"));
        f.select(request(1, 64, "cached"));
        f.core.close();
        f.core.close();
        SelectRequest request = request(1, 64).build();
        for (CompletionStage<?> stage : List.of(
                f.core.select(request),
                f.core.selectAndReserve(request),
                f.core.reserve(request),
                f.core.lease(request),
                f.core.createReservation(ReservationRequest.replay(KEY, "cached")),
                f.core.createReservation(ReservationRequest.explicit(KEY, "x", WorkerRank.of(1), prompt(1, 64))))) {
            assertThat(f.failureOf(stage)).isEqualTo(Kind.SHUTDOWN);
        }
        assertThat(f.core.trySelect(request)).isInstanceOf(Attempted.Refused.class);
        assertThat(f.core.tryReserve(request)).isInstanceOf(Attempted.Refused.class);
        WorkerSpec spec = worker(3).build();
        for (Runnable change : List.<Runnable>of(
                () -> f.core.upsert(spec),
                () -> f.core.patch(1, b -> b),
                () -> f.core.apply(new CatalogChanges(List.of(spec), Set.of()), CancellationSignal.never()),
                () -> f.core.ensurePartition(KEY, 16, false))) {
            assertThatThrownBy(change::run).isInstanceOf(ShutdownException.class);
        }
        assertThat(f.core.ready().ready()).isFalse();
        assertThat(f.core.loads()).hasSize(1);
        now(f.core.prefillComplete("kept"));
        f.core.remove(2);
        assertThat(f.core.list()).hasSize(1);
        kept.close();
        f.assertEmpty();
    }

    // ---- workers

    @Test
    void kD3_requestsThatAreRefusedOrCancelled_changeNobodysEligibility() {
        CoreFixture f = new CoreFixture();
        f.core.upsert(worker(1).totalKvBlocks(10L).build());
        for (int i = 0; i < 10; i++) {
            assertThat(f.failureOf(f.core.selectAndReserve(request(i, 3_200).build())))
                    .isEqualTo(Kind.EXCEEDS_CAPACITY);
            f.core.freeFailed(f.book(request(i, 64)));
        }
        assertThat(f.book(request(1, 64)).id().worker()).isEqualTo(WorkerRank.of(1));
    }

    @Test
    void kW5_idleWorkerForAnHour_isStillThereWithItsRows() {
        CoreFixture f = new CoreFixture().workers(1);
        f.holds(1, prompt(1, 64), 4);
        f.time.advance(Duration.ofHours(1));
        assertThat(f.core.ready().ready()).isTrue();
        assertThat(f.select(request(1, 64)).overlap().gpu()).isEqualTo(64);
    }

    // ---- sessions

    private static SelectRequest.Builder turn(String session) {
        return request(1, 64).session(SessionContext.of(session));
    }

    @Test
    void scenario53_tableFull_routesUnpinnedAndCounts() {
        CoreFixture f = new CoreFixture(SelectionConfig.builder()
                        .sessionAffinityTtl(Duration.ofMinutes(1))
                        .sessionAffinityMaxEntries(1)
                        .build())
                .workers(2);
        f.book(turn("a")).close();
        f.book(turn("b")).close();
        assertThat(f.core.stats().unpinned()).isEqualTo(1);
        assertThat(f.core.sessionStats(KEY).orElseThrow().entries()).isEqualTo(1);
        f.book(turn("a")).close();
        assertThat(f.core.stats().unpinned()).isEqualTo(1);
    }

    @Test
    void scenario53_rankShrinks_onlySessionsOfThatRankMove() {
        CoreFixture f = new CoreFixture(SelectionConfig.builder()
                .sessionAffinityTtl(Duration.ofMinutes(1))
                .build());
        f.core.upsert(worker(1).dataParallelSize(2).build());
        f.core.upsert(worker(2).build());
        Booking stays = f.book(turn("first"));
        Booking moves = f.book(turn("second"));
        Booking third = f.book(turn("third"));
        List<WorkerRank> bound =
                List.of(stays.id().worker(), moves.id().worker(), third.id().worker());
        assertThat(bound).containsExactlyInAnyOrder(new WorkerRank(1, 0), new WorkerRank(1, 1), new WorkerRank(2, 0));
        List.of(stays, moves, third).forEach(Booking::close);
        f.core.patch(1, spec -> spec.dataParallelSize(1));
        List<String> sessions = List.of("first", "second", "third");
        for (int i = 0; i < 3; i++) {
            WorkerRank now = f.select(turn(sessions.get(i))).worker();
            if (bound.get(i).equals(new WorkerRank(1, 1))) {
                assertThat(now).isNotEqualTo(bound.get(i));
            } else {
                f.book(request(99, 1_600).pinnedWorker(bound.get(i)));
                assertThat(f.select(turn(sessions.get(i))).worker()).isEqualTo(bound.get(i));
            }
        }
    }

    // ---- configuration and policies

    @Test
    void kR1_portsAndSettingsWithoutEachOther_areNamed() {
        KvEventIngress listens = new KvEventIngress() {
            @Override
            public boolean listens() {
                return true;
            }
        };
        SelectionConfig asks = SelectionConfig.builder()
                .prefillLoadModel(PrefillLoadModel.AIC)
                .sharedCacheType("x")
                .useRemoteIndexer(true)
                .replicaSync(true)
                .build();
        assertThat(SelectionHost.STANDALONE.withoutEffect(asks))
                .extracting(line -> line.substring(0, line.indexOf(':')))
                .containsExactly(
                        "router_prefill_load_model", "shared_cache_type", "use_remote_indexer", "router_replica_sync");
        SelectionHost offers = SelectionHost.builder()
                .prefillEstimator((batch, tokens, prefix) -> null)
                .sharedCache((tokens, blockSize, namespace) -> CompletableFuture.completedStage(List.of()))
                .index(KvIndexSource.owned(listens))
                .build();
        assertThat(offers.withoutEffect(
                        SelectionConfig.builder().useKvEvents(false).build()))
                .extracting(line -> line.substring(0, line.indexOf(':')))
                .containsExactly("prefillEstimator", "sharedCache", "index");
        assertThat(SelectionHost.STANDALONE.withoutEffect(SelectionConfig.DEFAULTS))
                .isEmpty();
    }

    @Test
    void policyOfARole_countsMoreThanThePolicyOfAll() {
        SelectionPolicy all = SelectionPolicy.roundRobin();
        SelectionPolicy decode = SelectionPolicy.leastLoaded();
        PartitionKey decoders = PartitionKey.ofModel("decoders");
        for (boolean first : new boolean[] {true, false}) {
            VirtualTime time = new VirtualTime();
            SelectionCoreBuilder builder =
                    SelectionCore.builder().ticker(time).clock(time.clock()).scheduler(time);
            builder = first
                    ? builder.policy(Role.DECODE, decode).policy(all)
                    : builder.policy(all).policy(Role.DECODE, decode);
            SelectionCore core = builder.roles(key -> key.equals(decoders) ? Role.DECODE : Role.PREFILL)
                    .build();
            core.upsert(worker(1).build());
            core.upsert(worker(2).modelName("decoders").build());
            assertThat(policyOf(core, request(1, 64))).isEqualTo(all.name());
            assertThat(policyOf(core, request(1, 64).partition(decoders))).isEqualTo(decode.name());
            assertThat(core.role(decoders)).isEqualTo(Role.DECODE);
        }
    }

    private static String policyOf(SelectionCore core, SelectRequest.Builder request) {
        Selection selection = now(core.select(
                request.explanation(SelectRequest.Explain.EVERY_CANDIDATE).build()));
        return selection.explanation() == null ? "" : selection.explanation().policy();
    }
}

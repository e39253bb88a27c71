package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.prompt;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.selection.config.IndexConfig;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.SessionConfig;
import dev.tandemkv.selection.explain.Explanation;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.LoadSink;
import dev.tandemkv.selection.host.OverloadGate;
import dev.tandemkv.selection.host.OverloadedWorkers;
import dev.tandemkv.selection.host.RemoteIndex;
import dev.tandemkv.selection.host.ReportedLoad;
import dev.tandemkv.selection.host.SelectionHost;
import dev.tandemkv.selection.host.SharedCache;
import dev.tandemkv.selection.policy.PolicyComponents;
import dev.tandemkv.selection.policy.SelectionPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Scenarios 10 to 23, 48, 53 and 56 to 60 of the selection page through the whole core. */
class EligibilityScenariosTest {

    private static SelectionHost overloading(Set<Long> overloaded) {
        return SelectionHost.builder()
                .overloadedWorkers(OverloadedWorkers.ofWorkers(() -> overloaded))
                .build();
    }

    @Test
    void scenario10_workedCosts_winnerAndExactCost() {
        CoreFixture f = new CoreFixture().workers(2);
        f.holds(1, prompt(1, 512), 24);
        Selection chosen = f.select(request(1, 512).explanation(SelectRequest.Explain.EVERY_CANDIDATE));

        Explanation why = chosen.explanation();
        assertThat(chosen.worker().workerId()).isEqualTo(1);
        assertThat(why.candidate(WorkerRank.of(1)).orElseThrow().cost()).isEqualTo(32 - 24 + 32);
        assertThat(why.candidate(WorkerRank.of(2)).orElseThrow().cost()).isEqualTo(64);
    }

    @Test
    void scenario60_explanation_recomputesToTheSameCostAndNamesWhatWasExcluded() {
        CoreFixture f = new CoreFixture().workers(3);
        Explanation why = f.select(request(1, 512)
                        .allowedWorkerIds(Set.of(1L, 2L))
                        .explanation(SelectRequest.Explain.EVERY_CANDIDATE))
                .explanation();

        assertThat(why.candidates())
                .allSatisfy(c -> assertThat(c.recomputedCost()).isEqualTo(c.cost()));
        assertThat(why.excluded())
                .containsExactly(new Explanation.Exclusion(WorkerRank.of(3), ExclusionReason.NOT_ALLOWED, null));
    }

    @Test
    void scenario13_kC2_equalWorkers_tiesAreShared() {
        CoreFixture f = new CoreFixture().workers(2);
        int first = 0;
        for (int i = 0; i < 448; i++) {
            Booking booking = f.book(request(1, 40));
            first += booking.id().worker().workerId() == 1 ? 1 : 0;
            booking.close();
        }
        assertThat(first / 448.0).isCloseTo(0.5, within(0.15));
    }

    @Test
    void scenario14_overrideCreditZero_theColdIdleWorkerIsChosen() {
        CoreFixture f = new CoreFixture().workers(2);
        f.holds(1, prompt(1, 512), 32);
        f.book(request(7, 1024).pinnedWorker(WorkerRank.of(1)));
        RouterConfigOverride none = RouterConfigOverride.NONE.withOverlapScoreCredit(0.0);
        assertThat(f.select(request(1, 512).override(none)).worker().workerId()).isEqualTo(2);
    }

    @Test
    void scenario16_requiredTaintMissingOnAll_noEligibleWorkerWithItsReason() {
        CoreFixture f = new CoreFixture().workers(2);
        NoEligibleWorkerException failure = (NoEligibleWorkerException) CoreFixture.failure(f.core.select(
                request(1, 40).constraints(RoutingConstraints.requiring("a100")).build()));
        assertThat(failure.excluded()).isEqualTo(Map.of(ExclusionReason.CONSTRAINTS_UNSATISFIED, 2));
    }

    @Test
    void scenario17_pins_eachFailureWithItsKind() {
        Set<Long> overloaded = new HashSet<>();
        CoreFixture f = new CoreFixture(SelectionConfig.DEFAULTS, overloading(overloaded)).workers(2);

        assertThat(f.failureOf(f.core.select(request(1, 40)
                        .allowedWorkerIds(Set.of(2L))
                        .pinnedWorker(WorkerRank.of(1))
                        .build())))
                .isEqualTo(Kind.BAD_REQUEST);
        overloaded.add(1L);
        assertThat(f.failureOf(f.core.select(
                        request(1, 40).pinnedWorker(WorkerRank.of(1)).build())))
                .isEqualTo(Kind.OVERLOADED);
        assertThat(f.failureOf(f.core.select(
                        request(1, 40).pinnedWorker(new WorkerRank(2, 5)).build())))
                .isEqualTo(Kind.NO_ELIGIBLE_WORKER);
    }

    @Test
    void scenario18_allOverloaded_overloadedUnlessSomethingElseStandsInTheWay() {
        CoreFixture f = new CoreFixture(SelectionConfig.DEFAULTS, overloading(Set.of(1L, 2L))).workers(2);
        assertThat(f.failureOf(f.core.select(request(1, 40).build()))).isEqualTo(Kind.OVERLOADED);
        assertThat(f.failureOf(f.core.select(request(1, 40)
                        .constraints(RoutingConstraints.requiring("x"))
                        .build())))
                .isEqualTo(Kind.NO_ELIGIBLE_WORKER);
    }

    @Test
    void scenario19_availability_nullIsNoInformationAndAnEmptySetRejectsAll() {
        List<Set<Long>> answer = new ArrayList<>();
        SelectionHost host = SelectionHost.builder()
                .availableWorkers(r -> answer.isEmpty() ? null : answer.get(0))
                .build();
        CoreFixture f = new CoreFixture(SelectionConfig.DEFAULTS, host).workers(2);
        f.select(request(1, 40));
        answer.add(Set.of());
        assertThat(f.failureOf(f.core.select(request(1, 40).build()))).isEqualTo(Kind.NO_ELIGIBLE_WORKER);
    }

    @Test
    void scenario20_loraFilter_narrowsAndNeverMakesUnroutable() {
        SelectionHost host = SelectionHost.builder()
                .loraWorkerFilter((partition, lora, universe) -> Set.of(2L, 9L))
                .build();
        CoreFixture f = new CoreFixture(SelectionConfig.DEFAULTS, host).workers(3);
        Prompt.Tokens adapted = prompt(1, 40).withLora("adapter");
        for (int i = 0; i < 10; i++) {
            assertThat(f.select(SelectRequest.builder(adapted)).worker().workerId())
                    .isEqualTo(2);
            assertThat(f.select(SelectRequest.builder(adapted).allowedWorkerIds(Set.of(1L, 3L)))
                            .worker()
                            .workerId())
                    .isIn(1L, 3L);
        }
        assertThat(f.select(SelectRequest.builder(adapted).pinnedWorker(WorkerRank.of(1)))
                        .worker()
                        .workerId())
                .isEqualTo(1);
    }

    @Test
    void scenario21_affinityTarget_exclusiveWhileEligible() {
        CoreFixture f = new CoreFixture().workers(2);
        f.book(request(9, 1024).pinnedWorker(WorkerRank.of(1)));
        assertThat(f.select(request(1, 40).affinityTarget(AffinityTarget.ofWorker(1)))
                        .worker()
                        .workerId())
                .isEqualTo(1);
        assertThat(f.select(request(1, 40).affinityTarget(AffinityTarget.ofWorker(77)))
                        .worker()
                        .workerId())
                .isEqualTo(2);
        assertThat(f.failureOf(f.core.select(request(1, 40)
                        .affinityTarget(AffinityTarget.ofWorker(1))
                        .pinnedWorker(WorkerRank.of(2))
                        .build())))
                .isEqualTo(Kind.BAD_REQUEST);
    }

    @Test
    void scenario22_faultyPolicy_failsItsRequestOnlyAndBooksNothing() {
        SelectionCore core = SelectionCore.builder()
                .scheduler(new dev.tandemkv.catalog.time.VirtualTime())
                .policy(SelectionPolicy.of(
                        "broken",
                        scope -> PolicyComponents.cheapest((context, candidates, costs) -> {
                            costs[0] = context.islTokens() == 40 ? Double.NaN : 1;
                        })))
                .build();
        core.upsert(worker(1).build());
        PolicyFaultException fault = (PolicyFaultException)
                CoreFixture.failure(core.selectAndReserve(request(1, 40).build()));
        assertThat(fault.fault()).isEqualTo(PolicyFaultException.Fault.NON_FINITE_COST);
        assertThat(core.stats().reservations()).isZero();
        assertThat(core.selectAndReserve(request(1, 41).build()).toCompletableFuture())
                .isCompleted();
    }

    @Test
    void scenario48_advisory_loadIsToldAndNothingBooked() {
        CoreFixture f = new CoreFixture(
                SelectionConfig.builder().disaggDecodeBusyThreshold(0.0).build());
        f.core.upsert(worker(1).totalKvBlocks(1000L).maxNumBatchedTokens(8192L).build());
        Selection answer = f.select(request(1, 64).mode(SelectRequest.Mode.ADVISORY));
        assertThat(answer.workerLoad()).isEqualTo(new WorkerLoad(0, 8192, 1000L, null));
        assertThat(answer.decodeBusy()).isTrue();
        f.assertEmpty();
    }

    @Test
    void scenario58_kJ3_capacityOfARank_decidesWhoIsLargeEnough() {
        CoreFixture f = new CoreFixture();
        f.core.upsert(worker(1).totalKvBlocks(8L).dataParallelSize(4).build());
        assertThat(f.failureOf(f.core.select(request(1, 64).build()))).isEqualTo(Kind.EXCEEDS_CAPACITY);
        f.core.upsert(worker(2).totalKvBlocks(100L).build());
        assertThat(f.select(request(1, 64)).worker().workerId()).isEqualTo(2);
    }

    @Test
    void kD1_overloadGate_firstHealthySampleClearsIt() {
        OverloadGate gate = new OverloadGate(new OverloadGate.Thresholds(0.9, null, null));
        CoreFixture f = new CoreFixture(
                        SelectionConfig.DEFAULTS,
                        SelectionHost.builder().overloadedWorkers(gate).build())
                .workers(1);
        gate.decodeLoad(WorkerRank.of(1), 95, 100);
        gate.prefillLoad(WorkerRank.of(1), 0, null);
        assertThat(f.failureOf(f.core.select(request(1, 40).build()))).isEqualTo(Kind.OVERLOADED);
        gate.decodeLoad(WorkerRank.of(1), 90, 100);
        assertThat(f.select(request(1, 40)).worker().workerId()).isEqualTo(1);
    }

    @Test
    void kD2_threeOfFourOverloaded_allWorkGoesToTheFourth() {
        CoreFixture f = new CoreFixture(SelectionConfig.DEFAULTS, overloading(Set.of(1L, 2L, 3L))).workers(4);
        for (int i = 0; i < 10; i++) {
            assertThat(f.book(request(i, 400)).id().worker().workerId()).isEqualTo(4);
        }
    }

    @Test
    void kC5_reportedLoad_countsWithWhatWasBookedSince() {
        Map<Long, ReportedLoad.Report> reports = new HashMap<>();
        reports.put(1L, new ReportedLoad.Report(0, 0, 0, 0));
        reports.put(2L, new ReportedLoad.Report(0, 1, 1, 0));
        CoreFixture f = new CoreFixture(
                        SelectionConfig.builder().trackPrefillTokens(false).build(),
                        SelectionHost.builder()
                                .reportedLoad(rank -> reports.get(rank.workerId()))
                                .build())
                .workers(2);
        f.time.advance(Duration.ofSeconds(1));
        int onOne = 0;
        for (int i = 0; i < 8; i++) {
            onOne += f.book(request(i + 1, 16)).id().worker().workerId() == 1 ? 1 : 0;
        }
        assertThat(onOne).isBetween(4, 5);
    }

    @Test
    void kC3_bothHold_theLessLoadedIsChosen() {
        CoreFixture f = new CoreFixture().workers(2);
        f.holds(1, prompt(1, 64), 4);
        f.holds(2, prompt(1, 64), 4);
        f.book(request(5, 800).pinnedWorker(WorkerRank.of(1)));
        assertThat(f.select(request(1, 64)).worker().workerId()).isEqualTo(2);
    }

    @Test
    void kQ1_loadSink_tellsWhatIsBookedAndWhoLeft() {
        List<String> told = new ArrayList<>();
        LoadSink sink = new LoadSink() {
            @Override
            public void publish(PartitionKey partition, WorkerRank rank, long blocks, long tokens) {
                told.add(rank + " " + blocks + " " + tokens);
            }

            @Override
            public void observeLocalLoad(PartitionKey partition, WorkerRank rank, long blocks) {
                told.add(rank + " local " + blocks);
            }

            @Override
            public void removed(PartitionKey partition, WorkerRank rank) {
                told.add(rank + " removed");
            }
        };
        CoreFixture f = new CoreFixture(
                        SelectionConfig.DEFAULTS,
                        SelectionHost.builder().loadSink(sink).build())
                .workers(1);
        Booking booking = f.book(request(1, 64));
        booking.addOutputBlocks(1);
        booking.prefillComplete();
        booking.close();
        f.core.remove(1);
        assertThat(told).containsExactly("1/0 4 64", "1/0 local 5", "1/0 5 0", "1/0 0 0", "1/0 removed");
    }

    @Test
    void sharedCache_countsBehindTheDevicePrefixAndItsFailureIsNoSelections() {
        List<Integer> asked = new ArrayList<>();
        SelectionHost host = SelectionHost.builder()
                .sharedCache((tokens, blockSize, namespace) -> {
                    asked.add(blockSize);
                    return asked.size() == 1
                            ? CompletableFuture.completedStage(List.of(new SharedCache.Range(0, 32)))
                            : CompletableFuture.failedStage(new IllegalStateException("away"));
                })
                .build();
        CoreFixture f =
                new CoreFixture(SelectionConfig.builder().sharedCacheType("x").build(), host).workers(1);
        f.holds(1, prompt(1, 512), 8);
        SelectRequest.Builder request = request(1, 512).explanation(SelectRequest.Explain.EVERY_CANDIDATE);
        // 32 raw - 8 device - 0.5 x 24 shared + 32 decode
        assertThat(f.select(request).explanation().candidates().get(0).cost()).isEqualTo(44);
        assertThat(f.select(request).explanation().candidates().get(0).cost()).isEqualTo(56);
    }

    @Test
    void scenario51_remoteIndexUnreachable_degradesVisiblyOrFails() {
        for (IndexConfig.OnFailure mode : IndexConfig.OnFailure.values()) {
            SelectionHost host = SelectionHost.builder()
                    .index(KvIndexSource.remote((partition, hashes) ->
                            CompletableFuture.failedStage(new IllegalStateException("unreachable"))))
                    .build();
            CoreFixture f =
                    new CoreFixture(SelectionConfig.builder().indexFailure(mode).build(), host).workers(1);
            if (mode == IndexConfig.OnFailure.FAIL) {
                assertThat(f.failureOf(f.core.selectAndReserve(request(1, 64).build())))
                        .isEqualTo(Kind.INDEX_OFFLINE);
                f.assertEmpty();
            } else {
                assertThat(f.select(request(1, 64)).rung()).isEqualTo(LadderRung.LOAD_ONLY);
                assertThat(f.core.stats().degraded()).isEqualTo(1);
            }
        }
    }

    @Test
    void kA7_lookupBlockedAndTheCoreCloses_shutdownAndNothingHeld() {
        CompletableFuture<List<RemoteIndex.Match>> answer = new CompletableFuture<>();
        SelectionHost host = SelectionHost.builder()
                .index(KvIndexSource.remote((partition, hashes) -> answer))
                .build();
        CoreFixture f = new CoreFixture(SelectionConfig.DEFAULTS, host).workers(1);
        CompletableFuture<Booking> reserve =
                f.core.selectAndReserve(request(1, 64).build()).toCompletableFuture();
        assertThat(reserve).isNotDone();
        f.core.close();
        assertThat(f.failureOf(reserve)).isEqualTo(Kind.SHUTDOWN);
        f.assertEmpty();
        answer.complete(List.of());
        f.assertEmpty();
    }

    // ---- sessions

    private static CoreFixture sessions(SessionConfig.Overloaded overloaded, Set<Long> busy) {
        return new CoreFixture(
                        SelectionConfig.builder()
                                .sessionAffinityTtl(Duration.ofSeconds(60))
                                .sessionOverloaded(overloaded)
                                .build(),
                        overloading(busy))
                .workers(3);
    }

    private static SelectRequest.Builder turn(String session) {
        return request(1, 40).session(SessionContext.of(session));
    }

    @Test
    void session_secondTurn_staysThoughAnotherWorkerIsCheaper() {
        CoreFixture f = sessions(SessionConfig.Overloaded.WAIT, Set.of());
        Booking first = f.book(turn("s"));
        long bound = first.id().worker().workerId();
        f.book(request(9, 1600).pinnedWorker(first.id().worker()));
        first.close();
        assertThat(f.select(turn("s")).worker().workerId()).isEqualTo(bound);
        assertThat(f.book(turn("s")).id().worker().workerId()).isEqualTo(bound);
    }

    @Test
    void kL3_dAffPin_pinElsewhereIsRefusedAndTheBindingStays() {
        CoreFixture f = sessions(SessionConfig.Overloaded.WAIT, Set.of());
        Booking first = f.book(turn("s").pinnedWorker(null));
        long bound = first.id().worker().workerId();
        first.close();
        long other = bound % 3 + 1;
        assertThat(f.failureOf(f.core.selectAndReserve(
                        turn("s").pinnedWorker(WorkerRank.of(other)).build())))
                .isEqualTo(Kind.BAD_REQUEST);
        assertThat(f.failureOf(f.core.selectAndReserve(
                        turn("s").allowedWorkerIds(Set.of(other)).build())))
                .isEqualTo(Kind.BAD_REQUEST);
        assertThat(f.book(turn("s")).id().worker().workerId()).isEqualTo(bound);
    }

    @Test
    void dAffHard_boundWorkerOverloaded_overloadedOrSpillAndTheBindingStays() {
        Set<Long> busy = new HashSet<>();
        for (SessionConfig.Overloaded mode : SessionConfig.Overloaded.values()) {
            busy.clear();
            CoreFixture f = sessions(mode, busy);
            Booking first = f.book(turn("s"));
            long bound = first.id().worker().workerId();
            busy.add(bound);
            if (mode == SessionConfig.Overloaded.WAIT) {
                assertThat(f.failureOf(f.core.selectAndReserve(turn("s").build())))
                        .isEqualTo(Kind.OVERLOADED);
            } else {
                assertThat(f.book(turn("s")).id().worker().workerId()).isNotEqualTo(bound);
            }
            busy.clear();
            assertThat(f.book(turn("s")).id().worker().workerId()).isEqualTo(bound);
        }
    }

    @Test
    void scenario53_boundWorkerLeaves_theSessionMoves() {
        CoreFixture f = sessions(SessionConfig.Overloaded.WAIT, Set.of());
        Booking first = f.book(turn("s"));
        long bound = first.id().worker().workerId();
        f.core.remove(bound);
        Booking next = f.book(turn("s"));
        assertThat(next.id().worker().workerId()).isNotEqualTo(bound);
        long moved = next.id().worker().workerId();
        next.close();
        assertThat(f.book(turn("s")).id().worker().workerId()).isEqualTo(moved);
    }

    @Test
    void kC11_noSession_bindsNothing() {
        CoreFixture f = sessions(SessionConfig.Overloaded.WAIT, Set.of());
        Set<Long> used = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            used.add(f.book(request(i, 160)).id().worker().workerId());
        }
        assertThat(used).hasSize(3);
    }

    @Test
    void kL4_overlongSessionId_badRequestAndNothingHeld() {
        CoreFixture f = sessions(SessionConfig.Overloaded.WAIT, Set.of());
        assertThat(f.failureOf(f.core.selectAndReserve(turn("x".repeat(257)).build())))
                .isEqualTo(Kind.BAD_REQUEST);
        f.assertEmpty();
    }
}

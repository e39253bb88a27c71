package dev.tandemkv.selection;

import static dev.tandemkv.selection.CoreFixture.now;
import static dev.tandemkv.selection.CoreFixture.prompt;
import static dev.tandemkv.selection.CoreFixture.request;
import static dev.tandemkv.selection.CoreFixture.worker;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.affinity.AffinityMode;
import dev.tandemkv.affinity.PinPolicy;
import dev.tandemkv.affinity.RebindMoment;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.CatalogChanges;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerLifecycle;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.selection.config.QueueConfig;
import dev.tandemkv.selection.config.QueuePolicy;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.SelectionConfigBuilder;
import dev.tandemkv.selection.config.SessionConfig;
import dev.tandemkv.selection.host.InProcessBus;
import dev.tandemkv.selection.host.KvEventIngress;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Cases and scenarios that concern the core as a whole and have no closer home. */
class CasesTest {

    private static CoreFixture queueing(double threshold, int workers) {
        CoreFixture f = new CoreFixture(
                SelectionConfig.builder().queueThreshold(threshold).build());
        for (int id = 1; id <= workers; id++) {
            f.core.upsert(worker(id).maxNumBatchedTokens(8192L).build());
        }
        return f;
    }

    private static CompletableFuture<Booking> reserve(CoreFixture f, SelectRequest.Builder request) {
        return f.core.selectAndReserve(request.build()).toCompletableFuture();
    }

    // ---- cases

    @Test
    void kA3_interruptedCallerFrees_bookingAndPlaceInTheQueueGoTogether() {
        CoreFixture f = queueing(0.0, 1);
        f.book(request(1, 40, "r1"));
        CompletableFuture<Booking> waiting = reserve(f, request(2, 40));
        Thread.currentThread().interrupt();
        assertThat(now(f.core.free("r1"))).isEqualTo(FreeOutcome.FREED);
        assertThat(Thread.interrupted()).as("the interrupt is the caller's").isTrue();
        now(waiting).close();
        f.assertEmpty();
    }

    @Test
    void kC1_everyEntryPathBooks_theHolderLosesOnceItsLoadPassesItsCredit() {
        CoreFixture f = new CoreFixture().workers(8);
        f.holds(1, prompt(1, 64), 4);
        for (int i = 0; i < 480; i++) {
            SelectRequest.Builder request = SelectRequest.builder(sharedHead(i)).selectionId("r" + i);
            switch (i % 3) {
                case 0 -> now(f.core.reserve(request.build()));
                case 1 -> f.book(request);
                default -> {
                    f.select(request);
                    now(f.core.createReservation(ReservationRequest.replay(PartitionKey.DEFAULT, "r" + i)));
                }
            }
        }
        List<RankLoad> loads = f.core.loads(PartitionKey.DEFAULT).orElseThrow().loads();
        assertThat(loads.stream().mapToLong(RankLoad::activeRequests).sum()).isEqualTo(480);
        assertThat(loads).allSatisfy(load -> assertThat(load.activeRequests()).isBetween(1, 200));
    }

    /** Four blocks that all these prompts share, and four of its own. */
    private static Prompt sharedHead(int i) {
        int[] tokens = Arrays.copyOf(prompt(1, 64).tokenIds(), 128);
        for (int j = 64; j < tokens.length; j++) {
            tokens[j] = 50_000_000 + i * 1_000 + j;
        }
        return Prompt.ofTokens(tokens);
    }

    @Test
    void kE6_roomForTwoAndEightAtOnce_exactlyTwoAreAdmitted() throws Exception {
        // 4,000 tokens are not more than the threshold, 8,000 are.
        CoreFixture f = queueing(4000.0 / 8192, 1);
        ExecutorService threads = Executors.newFixedThreadPool(8);
        CyclicBarrier start = new CyclicBarrier(8);
        List<Future<CompletableFuture<Booking>>> asked = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int seed = i;
            asked.add(threads.submit(() -> {
                start.await();
                return reserve(f, request(seed, 4000));
            }));
        }
        List<CompletableFuture<Booking>> stages = new ArrayList<>();
        for (Future<CompletableFuture<Booking>> each : asked) {
            stages.add(each.get());
        }
        threads.shutdown();
        assertThat(stages).filteredOn(CompletableFuture::isDone).hasSize(2);
        assertThat(f.core.loads(PartitionKey.DEFAULT).orElseThrow().pendingRequests())
                .isEqualTo(6);
        stages.forEach(stage -> stage.thenAccept(Booking::close));
        f.assertEmpty();
    }

    @Test
    void kN2_withoutReplication_completionsCount() {
        CoreFixture f = new CoreFixture().workers(1);
        f.book(request(1, 40, "r1"));
        now(f.core.prefillComplete("r1"));
        assertThat(f.load(1).potentialPrefillTokens()).isZero();
        now(f.core.free("r1"));
        f.assertEmpty();
    }

    @Test
    void kR1_optionsThatNothingReads_areNamed() {
        SelectionConfig config = SelectionConfig.builder()
                .trackPrefillTokens(false)
                .queueThreshold(0.5)
                .overlapScoreCreditDecay(1)
                .build();
        assertThat(config.withoutEffect())
                .anySatisfy(line -> assertThat(line).startsWith("router_queue_threshold"))
                .anySatisfy(line -> assertThat(line).startsWith("overlap_score_credit_decay"));
        assertThat(SelectionConfig.DEFAULTS.withoutEffect()).isEmpty();
    }

    @Test
    void kR1_settingsOfAQueueOrOfSessionsThatThereAreNot_areNamed() {
        SelectionConfigBuilder idle = SelectionConfig.builder()
                .queuePolicy(QueuePolicy.WSPT)
                .queueNoWorkers(QueueConfig.NoWorkers.FAIL)
                .sessionAffinityMode(AffinityMode.SOFT)
                .sessionRebind(RebindMoment.ON_SUCCESS)
                .sessionAffinityMaxEntries(9)
                .sessionLoadMargin(8.0)
                .sessionPinPolicy(PinPolicy.BIND)
                .sessionOverloaded(SessionConfig.Overloaded.SPILL_KEEP_BINDING);
        assertThat(idle.build().withoutEffect().stream()
                        .map(line -> line.substring(0, line.indexOf(':')))
                        .toList())
                .containsExactlyInAnyOrder(
                        "router_queue_policy",
                        "queue_no_workers",
                        "session_affinity_mode",
                        "session_rebind",
                        "session_affinity_max_entries",
                        "session_load_margin",
                        "session_pin_policy",
                        "session_overloaded");
        assertThat(idle.queueThreshold(0.5)
                        .sessionAffinityTtl(Duration.ofMinutes(1))
                        .build()
                        .withoutEffect())
                .isEmpty();
    }

    @Test
    void kR1_waitForWorkersThatIsSkipped_orForNone_isNamed() {
        SelectionConfigBuilder skips = SelectionConfig.builder().skipInitialWorkerWait(true);
        assertThat(skips.build().withoutEffect()).containsExactly("skip_initial_worker_wait: min_initial_workers is 0");
        assertThat(skips.minInitialWorkers(2).build().withoutEffect())
                .containsExactly("min_initial_workers: skip_initial_worker_wait is true");
        assertThat(skips.skipInitialWorkerWait(false).build().withoutEffect()).isEmpty();
    }

    @Test
    void kR1_replicaSyncAndItsChannel_missEachOther_bothWaysAreNamed() {
        SelectionConfig synced = SelectionConfig.builder().replicaSync(true).build();
        SelectionHost connected = SelectionHost.builder()
                .replicaChannel(new InProcessBus(Runnable::run).join())
                .build();
        assertThat(SelectionCore.builder().config(synced).withoutEffect())
                .singleElement()
                .asString()
                .startsWith("router_replica_sync: ");
        assertThat(SelectionCore.builder().host(connected).withoutEffect())
                .singleElement()
                .asString()
                .startsWith("replica channel: ");
        assertThat(SelectionCore.builder().config(synced).host(connected).withoutEffect())
                .isEmpty();
        assertThat(SelectionCore.builder().withoutEffect()).isEmpty();
    }

    @Test
    void kS2_promptBelowOneBlock_isRoutedByLoadAndCounted() {
        CoreFixture f = new CoreFixture().workers(2);
        Booking first = f.book(request(1, 10));
        RankLoad load = f.load(first.id().worker());
        assertThat(load).isEqualTo(new RankLoad(first.id().worker(), 10, 0, 1));
        assertThat(first.selection().overlap()).isEqualTo(Overlap.NONE);
        assertThat(f.book(request(1, 10)).id().worker()).isNotEqualTo(first.id().worker());
        assertThat(f.core.stats().subBlock()).isEqualTo(2);
    }

    @Test
    void kW7_nobodyEligible_typed_andRowsOfUnknownWorkersAreNoCandidates() {
        CoreFixture f = new CoreFixture();
        assertThat(f.failureOf(f.core.select(request(1, 40).build()))).isEqualTo(Kind.NOT_READY);
        f.workers(1);
        f.holds(99, prompt(1, 64), 4);
        assertThat(f.select(request(1, 64)).worker()).isEqualTo(WorkerRank.of(1));
        assertThat(f.failureOf(f.core.select(
                        request(1, 64).allowedWorkerIds(Set.of(99L)).build())))
                .isEqualTo(Kind.NO_ELIGIBLE_WORKER);
    }

    /** Follows what it is told to, and fails where a worker's endpoint says so. */
    private static final class Feeds implements KvEventIngress {
        final List<String> calls = new ArrayList<>();
        boolean metadataFails;

        @Override
        public boolean listens() {
            return true;
        }

        @Override
        public List<String> missingMetadata(WorkerSpec spec) {
            if (metadataFails) {
                throw new IllegalStateException("no metadata");
            }
            List<String> missing = new ArrayList<>();
            for (int i = 0; i < spec.rankCount(); i++) {
                if (i > 0 && spec.kvEventsEndpoints().get(i) == null) {
                    missing.add("kv-events endpoint missing for rank " + i);
                }
            }
            return missing;
        }

        @Override
        public void reconcile(@Nullable WorkerSpec previous, WorkerSpec spec) {
            calls.add((previous == null ? "new " : "keep ") + spec.endpoint());
            if ("bad:1".equals(spec.endpoint())) {
                throw new IllegalStateException("cancelled midway");
            }
        }

        @Override
        public void detach(WorkerSpec spec) {
            calls.add("detach " + spec.endpoint());
            throw new IllegalStateException("detach");
        }
    }

    private static CoreFixture fed(Feeds feeds) {
        return new CoreFixture(
                SelectionConfig.DEFAULTS,
                SelectionHost.builder().index(KvIndexSource.owned(feeds)).build());
    }

    @Test
    void kW3_updateBreaksMidway_theOldRecordIsFollowedAnew() {
        Feeds feeds = new Feeds();
        CoreFixture f = fed(feeds);
        WorkerSpec old = worker(1).endpoint("good:1").build();
        f.core.upsert(old);
        WorkerRecord broken = f.core.upsert(worker(1).endpoint("bad:1").build());
        assertThat(broken.lifecycle()).isEqualTo(WorkerLifecycle.INCOMPLETE);
        assertThat(f.core.ready().schedulableWorkers()).isZero();
        assertThat(f.core.upsert(old).lifecycle()).isEqualTo(WorkerLifecycle.SCHEDULABLE);
        assertThat(feeds.calls).containsExactly("new good:1", "keep bad:1", "detach good:1", "new good:1");
        f.book(request(1, 40)).close();
    }

    @Test
    void scenario5_aRankWithoutEvents_incompleteNamesIt() {
        CoreFixture f = fed(new Feeds());
        WorkerRecord record = f.core.upsert(worker(1).dataParallelSize(2).build());
        assertThat(record.lifecycle()).isEqualTo(WorkerLifecycle.INCOMPLETE);
        assertThat(record.notSchedulableReasons()).containsExactly("kv-events endpoint missing for rank 1");
    }

    @Test
    void scenario9_ingressThrowsInABatch_theOthersAreThereAndConsistent() {
        Feeds feeds = new Feeds();
        CoreFixture f = fed(feeds);
        f.core.upsert(worker(1).endpoint("good:1").build());
        feeds.metadataFails = true;
        CatalogChanges.Results results =
                f.core.apply(new CatalogChanges(List.of(worker(2).build()), Set.of(1L)), CancellationSignal.never());
        assertThat(results.removals()).hasSize(1);
        assertThat(f.core.find(2).orElseThrow().lifecycle()).isEqualTo(WorkerLifecycle.INCOMPLETE);
        assertThat(f.failureOf(f.core.select(request(1, 40).build()))).isEqualTo(Kind.NOT_READY);
        feeds.metadataFails = false;
        f.core.upsert(worker(2).build());
        assertThat(f.select(request(1, 40)).worker()).isEqualTo(WorkerRank.of(2));
    }

    // ---- scenarios

    @Test
    void scenario12_trackingOff_loadDoesNotTouchTheCredit() {
        CoreFixture f = new CoreFixture(SelectionConfig.builder()
                        .overlapScoreCreditDecay(1)
                        .trackPrefillTokens(false)
                        .build())
                .workers(1);
        f.holds(1, prompt(1, 512), 24);
        f.book(request(2, 1600));
        // 100 booked + 32 of its own - 24 cached; the decode case, undecayed.
        assertThat(f.select(request(1, 512).explanation(SelectRequest.Explain.EVERY_CANDIDATE))
                        .explanation()
                        .candidates()
                        .get(0)
                        .cost())
                .isEqualTo(108);
    }

    @Test
    void scenario25_prefillCompleteAndFree_onceEach() {
        CoreFixture f = new CoreFixture().workers(1);
        f.book(request(1, 40, "a"));
        f.book(request(2, 30, "b"));
        now(f.core.prefillComplete("a"));
        now(f.core.prefillComplete("a"));
        assertThat(f.load(1).potentialPrefillTokens()).isEqualTo(30);
        assertThat(now(f.core.free("a"))).isEqualTo(FreeOutcome.FREED);
        assertThat(now(f.core.free("a"))).isEqualTo(FreeOutcome.ALREADY_GONE);
        assertThat(f.failureOf(f.core.prefillComplete("a"))).isEqualTo(Kind.NOT_FOUND);
        assertThat(f.load(1)).isEqualTo(new RankLoad(WorkerRank.of(1), 30, 1, 1));
    }

    @Test
    void scenario38_prefillCompleteOfTheFirst_dispatchesTheSecondAtOnce() {
        CoreFixture f = queueing(0.0, 1);
        Booking first = f.book(request(1, 40));
        CompletableFuture<Booking> second = reserve(f, request(2, 40));
        assertThat(second).isNotDone();
        PartitionLoads waiting = f.core.loads(PartitionKey.DEFAULT).orElseThrow();
        assertThat(waiting.pendingRequests()).isEqualTo(1);
        assertThat(waiting.pendingIslTokens()).isEqualTo(40);
        first.prefillComplete();
        assertThat(second).isCompleted();
        first.close();
        second.join().close();
        f.assertEmpty();
    }

    @Test
    void scenario46_workerDrainsWhileSomeoneWaits_itIsNotChosenAnyMore() {
        CoreFixture f = queueing(0.0, 2);
        Booking one = f.book(request(1, 40).pinnedWorker(WorkerRank.of(1)));
        Booking two = f.book(request(2, 40).pinnedWorker(WorkerRank.of(2)));
        CompletableFuture<Booking> anywhere = reserve(f, request(3, 40));
        CompletableFuture<Booking> pinned = reserve(f, request(4, 40).pinnedWorker(WorkerRank.of(1)));
        f.core.drain(1, Duration.ofSeconds(60));
        assertThat(f.failureOf(pinned)).isEqualTo(Kind.NO_ELIGIBLE_WORKER);
        one.close();
        assertThat(anywhere).isNotDone();
        two.close();
        assertThat(now(anywhere).id().worker()).isEqualTo(WorkerRank.of(2));
        now(anywhere).close();
        f.assertEmpty();
    }

    @Test
    void scenario56_noTokens_badRequestAndOneToken_routed() {
        CoreFixture f = new CoreFixture().workers(1);
        assertThatThrownBy(() -> Prompt.ofTokens(new int[0])).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> Prompt.ofHashes(new long[0], new long[0], 0)).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> Prompt.ofHashes(new long[1], new long[1], -1)).isInstanceOf(BadRequestException.class);
        f.assertEmpty();
        assertThat(f.select(request(1, 1)).worker()).isEqualTo(WorkerRank.of(1));
    }

    @Test
    void kJ1_eventsOfOneRank_areThatRanksOnly() {
        CoreFixture f = new CoreFixture();
        f.core.upsert(worker(1).dataParallelSize(4).build());
        f.holds(new WorkerRank(1, 3), prompt(1, 64), 4);
        Selection chosen = f.select(request(1, 64));
        assertThat(chosen.worker()).isEqualTo(new WorkerRank(1, 3));
        assertThat(chosen.overlap().deviceByRank()).containsOnly(java.util.Map.entry(3, 64L));
        f.core.apply(PartitionKey.DEFAULT, new WorkerRank(1, 0), new KvEvent.Cleared());
        assertThat(f.select(request(1, 64)).overlap().gpu()).isEqualTo(64);
    }
}

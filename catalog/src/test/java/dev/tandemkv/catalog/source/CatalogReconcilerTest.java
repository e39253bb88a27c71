package dev.tandemkv.catalog.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.NaiveCatalog;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.ShutdownException;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Scenarios 75 to 84 and the rules of application. */
class CatalogReconcilerTest {

    private static final SelectionException TRANSIENT = new ConflictException("worker", "2", "busy");

    private final VirtualTime time = new VirtualTime();
    private final NaiveCatalog catalog = new NaiveCatalog();
    private final InMemorySource source = new InMemorySource();
    private final List<String> seen = new ArrayList<>();
    private CatalogReconciler reconciler;
    private CompletionStage<Void> ended;

    private final CatalogObserver observer = new CatalogObserver() {
        @Override
        public void upserted(WorkerRecord record) {
            seen.add("+" + record.workerId());
        }

        @Override
        public void removed(WorkerRecord record) {
            seen.add("-" + record.workerId());
        }

        @Override
        public void failed(long workerId, SelectionException failure) {
            seen.add("!" + workerId);
        }

        @Override
        public void rejected(BadRequestException reason) {
            seen.add("rejected " + reason.field());
        }

        @Override
        public void sourceFailed(Throwable failure, Duration askedAgainIn) {
            seen.add("source failed, again in " + askedAgainIn.toSeconds());
        }

        @Override
        public void heldBack(int present, int kept) {
            seen.add("held back " + kept + "/" + present);
        }

        @Override
        public void retrying(int workers) {
            seen.add("retrying " + workers);
        }
    };

    private void start() {
        start(b -> b);
    }

    private void start(UnaryOperator<CatalogReconciler.Builder> with) {
        reconciler = with.apply(CatalogReconciler.builder(catalog, source, time).observer(observer))
                .build();
        ended = reconciler.start();
    }

    private static WorkerSpec worker(long id) {
        return WorkerSpec.builder(id).endpoint("h" + id + ":80").blockSize(16).build();
    }

    private static CatalogSnapshot workers(long... ids) {
        List<WorkerSpec> specs = new ArrayList<>();
        for (long id : ids) {
            specs.add(worker(id));
        }
        return new CatalogSnapshot(specs);
    }

    private void advance(long seconds) {
        time.advance(Duration.ofSeconds(seconds));
    }

    private boolean hasEnded() {
        return ended.toCompletableFuture().isDone();
    }

    // ---- 75, 83: the first snapshot, one batch ----

    @Test
    void start_firstSnapshotAtHand_isAppliedAtOnceInOneBatch() {
        source.publish(workers(1, 2, 3, 4));
        start();
        assertThat(catalog.ids()).containsExactlyInAnyOrder(1L, 2L, 3L, 4L);
        assertThat(catalog.publications).hasSize(1);
        assertThat(seen).containsExactly("+1", "+2", "+3", "+4");
        assertThat(time.pending()).as("nothing left to do by time").isZero();
    }

    @Test
    void start_twice_throws() {
        start();
        assertThatThrownBy(() -> reconciler.start()).isInstanceOf(IllegalStateException.class);
    }

    // ---- 76, K-W6: duplicates ----

    @Test
    void kW6_sameIdAtTwoHosts_isRejectedBeforeAnyChangeAndNotRetried() {
        source.publish(workers(1, 2));
        start();
        seen.clear();
        WorkerSpec elsewhere = worker(3).toBuilder().endpoint("other:80").build();
        source.publish(new CatalogSnapshot(List.of(worker(3), worker(4), elsewhere)));

        advance(3600);

        assertThat(seen).containsExactly("rejected worker_id");
        assertThat(catalog.ids()).containsExactlyInAnyOrder(1L, 2L);
        source.publish(workers(3));
        assertThat(catalog.ids()).containsExactly(3L);
    }

    @Test
    void snapshot_sameRecordTwice_isRejectedToo() {
        start();
        source.publish(CatalogSnapshot.of(worker(1), worker(1)));
        assertThat(seen).containsExactly("rejected worker_id");
        assertThat(catalog.ids()).isEmpty();
    }

    // ---- canonical comparison ----

    @Test
    void snapshot_thatOnlySpellsThingsDifferently_changesNothing() {
        source.publish(workers(1));
        start();
        catalog.log.clear();
        source.publish(CatalogSnapshot.of(worker(1).toBuilder()
                .dataParallelSize(1)
                .dataParallelStartRank(0)
                .isEagle(false)
                .taints(Set.of())
                .build()));
        assertThat(catalog.log).isEmpty();
        assertThat(catalog.find(1).orElseThrow().spec())
                .as("registered as told, not filled in")
                .isEqualTo(worker(1));
    }

    @Test
    void snapshot_withAChangedWorker_upsertsThatOneOnly() {
        source.publish(workers(1, 2));
        start();
        catalog.log.clear();
        source.publish(CatalogSnapshot.of(
                worker(1), worker(2).toBuilder().taints(Set.of("gpu")).build()));
        assertThat(catalog.log).containsExactly("+2");
    }

    @Test
    void snapshot_withAChangedIncarnation_isRemoveThenAddInOneStep() {
        source.publish(CatalogSnapshot.of(worker(1).toBuilder().incarnation("a").build()));
        start();
        catalog.log.clear();
        source.publish(CatalogSnapshot.of(worker(1).toBuilder().incarnation("b").build()));
        assertThat(catalog.log).containsExactly("-1", "+1");
    }

    // ---- 77, 78: failures ----

    @Test
    void pass_withAFailedUpsert_goesOnAndRetriesAfterFiveSeconds() {
        source.publish(workers(1));
        start();
        catalog.failing.put(2L, TRANSIENT);
        source.publish(workers(2, 3));
        assertThat(catalog.ids()).containsExactly(3L);

        catalog.failing.clear();
        time.advance(Duration.ofMillis(4_999));
        assertThat(catalog.ids()).containsExactly(3L);
        time.advance(Duration.ofMillis(1));
        assertThat(catalog.ids()).containsExactlyInAnyOrder(2L, 3L);
        assertThat(seen).endsWith("retrying 1", "+2");
        assertThat(time.pending()).isZero();
    }

    @Test
    void retry_afterANewerSnapshot_neverAppliesTheOldOne() {
        start();
        catalog.failing.put(2L, TRANSIENT);
        source.publish(workers(1, 2));
        advance(3);
        catalog.failing.clear();
        source.publish(workers(3));
        advance(60);
        assertThat(catalog.ids()).containsExactly(3L);
        assertThat(catalog.log).doesNotContain("+2");
        assertThat(time.pending()).isZero();
    }

    @Test
    void pass_withAFailedRemoval_keepsTheWorkerTrackedAndRetries() {
        source.publish(workers(1, 2));
        start();
        catalog.failing.put(1L, TRANSIENT);
        source.publish(workers(2));
        assertThat(catalog.ids()).contains(1L);
        catalog.failing.clear();
        advance(5);
        assertThat(catalog.ids()).containsExactly(2L);
    }

    @Test
    void pass_refusedForGood_waitsForTheNextSnapshot() {
        catalog.failing.put(2L, new BadRequestException("policy", "x", "y"));
        source.publish(workers(1, 2));
        start();
        assertThat(time.pending()).isZero();
        advance(3600);
        assertThat(seen).containsOnlyOnce("!2");

        source.publish(workers(1, 2, 3));
        assertThat(seen.stream().filter("!2"::equals)).hasSize(2);
        catalog.failing.clear();
        source.publish(workers(1, 2));
        assertThat(catalog.ids()).containsExactlyInAnyOrder(1L, 2L);
    }

    @Test
    void retry_doesNotRepeatWhatWasRefusedForGood() {
        catalog.failing.put(1L, new BadRequestException("policy", "x", "y"));
        catalog.failing.put(2L, TRANSIENT);
        source.publish(workers(1, 2));
        start();
        advance(5);
        assertThat(seen).containsExactly("!1", "!2", "retrying 1", "!2");
    }

    @Test
    void apply_thatThrowsUnforeseen_isRetriedWhole() {
        catalog.applyFailure = new IllegalStateException("bug");
        source.publish(workers(1));
        start();
        assertThat(seen).containsExactly("!1");
        catalog.applyFailure = null;
        advance(5);
        assertThat(catalog.ids()).containsExactly(1L);
    }

    @Test
    void apply_onAClosedCatalog_endsTheReconciliation() {
        catalog.applyFailure = new ShutdownException("core");
        source.publish(workers(1));
        start();
        assertThat(ended.toCompletableFuture()).isCompletedExceptionally();
        assertThat(time.pending()).isZero();
    }

    // ---- 79: incomplete workers ----

    @Test
    void incompleteWorker_isRetriedByTimeAndDeletedWhenItLeaves() {
        source.publish(CatalogSnapshot.of(WorkerSpec.builder(1).endpoint("h:80").build(), worker(2)));
        start();
        catalog.log.clear();
        advance(12);
        assertThat(catalog.log).containsExactly("+1", "+1");

        source.publish(workers(2));
        assertThat(catalog.ids()).containsExactly(2L);
        advance(60);
        assertThat(catalog.log).containsExactly("+1", "+1", "-1");
        assertThat(time.pending()).isZero();
    }

    @Test
    void incompleteWorker_thatRecovers_isLeftAlone() {
        source.publish(CatalogSnapshot.of(WorkerSpec.builder(1).endpoint("h:80").build()));
        start();
        source.publish(workers(1));
        assertThat(catalog.find(1).orElseThrow().isSchedulable()).isTrue();
        assertThat(time.pending()).isZero();
    }

    // ---- 80: the source closes ----

    @Test
    void sourceClosed_clear_removesEveryWorker() {
        source.publish(workers(1, 2));
        start();
        source.close();
        assertThat(catalog.ids()).isEmpty();
        assertThat(seen).endsWith("-1", "-2");
        assertThat(hasEnded()).isTrue();
    }

    @Test
    void sourceClosed_keepLast_keepsThem() {
        source.publish(workers(1, 2));
        start(b -> b.closePolicy(ClosePolicy.keepLast()));
        source.close();
        advance(3600);
        assertThat(catalog.ids()).hasSize(2);
        assertThat(hasEnded()).isTrue();
    }

    @Test
    void sourceClosed_clearAfter_keepsThemForTheGrace() {
        source.publish(workers(1, 2));
        start(b -> b.closePolicy(ClosePolicy.clearAfter(Duration.ofSeconds(10))));
        source.close();
        time.advance(Duration.ofMillis(9_999));
        assertThat(catalog.ids()).hasSize(2);
        assertThat(hasEnded()).isFalse();
        time.advance(Duration.ofMillis(1));
        assertThat(catalog.ids()).isEmpty();
        assertThat(hasEnded()).isTrue();
    }

    // ---- 81: the source throws ----

    @Test
    void sourceThrows_keepsTheCatalogAndAsksAgainWithBackoff() {
        source.publish(workers(1));
        start();
        source.fail(new IllegalStateException("watch lost"));
        assertThat(catalog.ids()).containsExactly(1L);
        assertThat(hasEnded()).isFalse();
        assertThat(seen).endsWith("source failed, again in 1");
        source.publish(workers(2));
        assertThat(catalog.ids()).as("not before the backoff").containsExactly(1L);
        advance(1);
        assertThat(catalog.ids()).containsExactly(2L);
    }

    /** A source of one's own may answer what no answer is. */
    @Test
    void sourceAnswersNonsense_isAFailureOfItAndNotTheEnd() {
        List<Supplier<CompletionStage<Optional<CatalogSnapshot>>>> faults =
                List.of(() -> null, () -> CompletableFuture.completedStage(null), () -> {
                    throw new NoClassDefFoundError("client");
                });
        for (Supplier<CompletionStage<Optional<CatalogSnapshot>>> fault : faults) {
            seen.clear();
            catalog.records.clear();
            AtomicInteger asked = new AtomicInteger();
            InMemorySource sound = new InMemorySource();
            sound.publish(workers(1));
            CatalogReconciler own = CatalogReconciler.builder(
                            catalog, () -> asked.getAndIncrement() == 0 ? fault.get() : sound.nextSnapshot(), time)
                    .observer(observer)
                    .build();
            own.start();
            assertThat(seen).containsExactly("source failed, again in 1");
            advance(1);
            assertThat(catalog.ids()).containsExactly(1L);
            own.close();
        }
    }

    @Test
    void catalogAnswersNothing_itsWorkersAreTriedAgain() {
        catalog.answersNothing = true;
        source.publish(workers(1));
        start();
        assertThat(seen).containsExactly("!1");
        catalog.answersNothing = false;
        advance(5);
        assertThat(catalog.ids()).containsExactly(1L);
    }

    @Test
    void sourceThrows_again_doublesTheBackoffUpToAMinuteAndSuccessResetsIt() {
        List<CompletableFuture<Optional<CatalogSnapshot>>> asked = new ArrayList<>();
        WorkerCatalogSource broken = () -> {
            CompletableFuture<Optional<CatalogSnapshot>> stage = new CompletableFuture<>();
            asked.add(stage);
            return stage;
        };
        CatalogReconciler own = CatalogReconciler.builder(catalog, broken, time)
                .observer(observer)
                .build();
        own.start();
        for (int i = 0; i < 8; i++) {
            asked.get(i).completeExceptionally(new IllegalStateException("down"));
            advance(60);
        }
        assertThat(seen)
                .containsExactly(
                        "source failed, again in 1",
                        "source failed, again in 2",
                        "source failed, again in 4",
                        "source failed, again in 8",
                        "source failed, again in 16",
                        "source failed, again in 32",
                        "source failed, again in 60",
                        "source failed, again in 60");
        asked.get(8).complete(Optional.of(workers(1)));
        asked.get(9).completeExceptionally(new IllegalStateException("down"));
        assertThat(seen).endsWith("+1", "source failed, again in 1");
        own.close();
        assertThat(time.pending()).isZero();
    }

    @Test
    void source_thatThrowsAtTheCall_isAskedAgainToo() {
        List<Integer> calls = new ArrayList<>();
        WorkerCatalogSource angry = () -> {
            calls.add(1);
            throw new IllegalStateException("no");
        };
        CatalogReconciler.builder(catalog, angry, time).build().start();
        advance(1);
        assertThat(calls).hasSize(2);
    }

    // ---- 82: the host cancels ----

    @Test
    void close_byTheHost_leavesTheCatalogUntouchedForGood() {
        source.publish(CatalogSnapshot.of(worker(1), WorkerSpec.builder(2).build()));
        start();
        reconciler.close();
        reconciler.close();
        source.publish(workers(3));
        source.close();
        advance(3600);
        assertThat(catalog.ids()).containsExactlyInAnyOrder(1L, 2L);
        assertThat(time.pending()).isZero();
        assertThat(hasEnded()).isTrue();
    }

    @Test
    void close_duringAPass_beginsNoFurtherItem() {
        start();
        catalog.beforeItem = () -> {
            if (catalog.records.size() == 2) {
                reconciler.close();
            }
        };
        source.publish(workers(1, 2, 3, 4));
        assertThat(catalog.ids()).hasSize(2);
        assertThat(seen).containsExactly("+1", "+2");
    }

    @Test
    void close_duringTheGrace_keepsTheWorkers() {
        source.publish(workers(1));
        start(b -> b.closePolicy(ClosePolicy.clearAfter(Duration.ofSeconds(10))));
        source.close();
        reconciler.close();
        advance(60);
        assertThat(catalog.ids()).containsExactly(1L);
    }

    // ---- 84: coexistence ----

    @Test
    void manuallyRegisteredWorker_absentFromTheSnapshots_isKept() {
        catalog.upsert(worker(9));
        source.publish(workers(1));
        start();
        source.publish(workers(2));
        source.close();
        assertThat(catalog.ids()).containsExactly(9L);
    }

    // ---- the collapse guard ----

    @Test
    void collapseGuard_offByDefault_anEmptySnapshotClears() {
        source.publish(workers(1, 2));
        start();
        source.publish(CatalogSnapshot.empty());
        assertThat(catalog.ids()).isEmpty();
    }

    @Test
    void collapseGuard_emptySnapshot_isPutAsideAndSupersededByABetterOne() {
        source.publish(workers(1, 2, 3, 4));
        start(b -> b.collapseGuard(new CollapseGuard(0.5, Duration.ofSeconds(30))));
        source.publish(CatalogSnapshot.empty());
        source.publish(workers(1, 8, 9));
        advance(29);
        assertThat(catalog.ids()).hasSize(4);
        source.publish(workers(1, 2));
        assertThat(catalog.ids()).containsExactlyInAnyOrder(1L, 2L);
        advance(3600);
        assertThat(catalog.ids()).hasSize(2);
        assertThat(seen).contains("held back 0/4", "held back 1/4");
    }

    @Test
    void collapseGuard_sourceThatInsists_isBelievedAfterTheDebounce() {
        source.publish(workers(1, 2, 3, 4));
        start(b -> b.collapseGuard(new CollapseGuard(0.5, Duration.ofSeconds(30))));
        source.publish(CatalogSnapshot.empty());
        advance(20);
        source.publish(workers(4));
        advance(10);
        assertThat(catalog.ids()).as("the last of them, counted from the first").containsExactly(4L);
    }

    @Test
    void collapseGuard_aClosedSource_isNotGuardedAgainst() {
        source.publish(workers(1, 2));
        start(b -> b.collapseGuard(new CollapseGuard(1, Duration.ofSeconds(30))));
        source.publish(CatalogSnapshot.empty());
        source.close();
        assertThat(catalog.ids()).isEmpty();
        assertThat(time.pending()).isZero();
    }

    // ---- odd company ----

    @Test
    void observer_thatThrows_disturbsNothing() {
        source.publish(workers(1, 2));
        CatalogReconciler.builder(catalog, source, time)
                .observer(new CatalogObserver() {
                    @Override
                    public void upserted(WorkerRecord record) {
                        throw new IllegalStateException("no");
                    }
                })
                .build()
                .start();
        assertThat(catalog.ids()).hasSize(2);
        assertThat(time.pending()).isZero();
    }

    @Test
    void source_thatAlwaysHasANewSnapshot_needsNoDeepStack() {
        int[] calls = {0};
        WorkerCatalogSource chatty = () -> CompletableFuture.completedStage(
                calls[0]++ < 50_000 ? Optional.of(workers(calls[0] % 3)) : Optional.empty());
        CatalogReconciler own = CatalogReconciler.builder(catalog, chatty, time)
                .closePolicy(ClosePolicy.keepLast())
                .build();
        assertThat(own.start().toCompletableFuture()).isCompleted();
        assertThat(catalog.ids()).containsExactly(50_000L % 3);
    }

    @Test
    void settings_outOfRange_areRefused() {
        assertThatThrownBy(() -> new CollapseGuard(Double.NaN, Duration.ZERO)).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> new CollapseGuard(1.1, Duration.ZERO)).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> new CollapseGuard(1, Duration.ofNanos(-1))).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> ClosePolicy.clearAfter(Duration.ofNanos(-1))).isInstanceOf(BadRequestException.class);
        assertThatThrownBy(() -> start(b -> b.retryDelay(Duration.ZERO))).isInstanceOf(BadRequestException.class);
    }
}

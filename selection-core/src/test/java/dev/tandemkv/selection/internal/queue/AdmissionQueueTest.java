package dev.tandemkv.selection.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.QueueRejectedException;
import dev.tandemkv.selection.QueueRejectedException.Limit;
import dev.tandemkv.selection.QueueRejectedException.Pending;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.config.QueueClass;
import dev.tandemkv.selection.config.QueuePolicy;
import dev.tandemkv.selection.config.QueueProfile;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AdmissionQueueTest {

    private static final long S = 1_000_000_000L;

    private AdmissionQueue<String> queue = single(QueuePolicy.FCFS, 16);

    @AfterEach
    void countersEqualContents() {
        queue.checkInvariants();
    }

    private static AdmissionQueue<String> single(QueuePolicy policy, int maxOvertakes) {
        return new AdmissionQueue<>(QueueProfile.single(1.0, policy), maxOvertakes, 0);
    }

    private static AdmissionQueue<String> of(QueueClass... classes) {
        return new AdmissionQueue<>(new QueueProfile(List.of(), classes[0].name(), List.of(classes)), 16, 0);
    }

    private static QueueClass named(String name, long quantum) {
        return QueueClass.named(name).withQuantum(quantum);
    }

    private static SelectRequest.Builder tokens(long isl) {
        return SelectRequest.builder(Prompt.ofHashes(new long[0], new long[0], isl));
    }

    private Waiter<String> add(String name, SelectRequest.Builder request, long at) {
        return add(name, request, 0, at);
    }

    private Waiter<String> add(String name, SelectRequest.Builder builder, long cached, long at) {
        SelectRequest request = builder.build();
        long isl = request.prompt().islTokens();
        return queue.add(queue.classOf(request, Math.max(0, isl - cached)), request, cached, name, at);
    }

    private List<String> drain() {
        return drain(waiter -> true);
    }

    private List<String> drain(Predicate<Waiter<String>> dispatchable) {
        List<String> order = new ArrayList<>();
        for (Waiter<String> next = queue.poll(dispatchable); next != null; next = queue.poll(dispatchable)) {
            order.add(next.payload());
        }
        return order;
    }

    // ---- gate

    @Test
    void busy_isStrictlyMoreThanAThreshold() {
        QueueClass half = QueueClass.named("c").withBusyThresholds(null, 0.5);
        assertThat(QueueGate.busy(half, 4096, 8192L)).isFalse();
        assertThat(QueueGate.busy(half, 4097, 8192L)).isTrue();
        assertThat(QueueGate.busy(half, 5_000_000, null)).isFalse();
        assertThat(QueueGate.busy(half, 5_000_001, null)).isTrue();
        QueueClass absolute = QueueClass.named("c").withBusyThresholds(100L, 0.5);
        assertThat(QueueGate.busy(absolute, 101, 8192L)).isTrue();
        QueueClass zero = QueueClass.named("c").withBusyThresholds(null, 0.0);
        assertThat(QueueGate.busy(zero, 0, 8192L)).isFalse();
        assertThat(QueueGate.busy(zero, 1, 8192L)).isTrue();
        assertThat(QueueGate.busy(QueueClass.named("open"), Long.MAX_VALUE, 1L)).isFalse();
    }

    @Test
    void kE1_threshold4_isBusyAboveFourBatches() {
        QueueClass four = QueueClass.named("c").withBusyThresholds(null, 4.0);
        assertThat(QueueGate.busy(four, 25_500, 8192L)).isFalse();
        assertThat(QueueGate.busy(four, 34_000, 8192L)).isTrue();
    }

    @Test
    void poolBusy_needsAllRanksOrTheClassesShare() {
        QueueClass all = QueueClass.named("c").withBusyThresholds(1L, null);
        assertThat(QueueGate.poolBusy(all, 1, 2)).isFalse();
        assertThat(QueueGate.poolBusy(all, 2, 2)).isTrue();
        assertThat(QueueGate.poolBusy(all, 0, 0)).isFalse();
        assertThat(QueueGate.neededBusy(all.withBusyWorkerRatio(0.95), 128)).isEqualTo(122);
        assertThat(QueueGate.neededBusy(all.withBusyWorkerRatio(0.55), 100)).isEqualTo(55);
    }

    // ---- order inside a class

    @Test
    void scenario39_fcfs_jumpCountsAsSecondsOfEarlierArrival() {
        add("a", tokens(1), 10 * S);
        add("b", tokens(1).priorityJump(5), 12 * S);
        add("c", tokens(1).priorityJump(-9), 9 * S);
        assertThat(drain()).containsExactly("b", "c", "a");
    }

    @Test
    void scenario39_wspt_shortAndUrgentFirst_tiesByArrival() {
        queue = single(QueuePolicy.WSPT, 16);
        add("1000", tokens(1000), S);
        add("200", tokens(200), 2 * S);
        add("2000 jump 9", tokens(2000).priorityJump(9), 3 * S);
        assertThat(drain()).containsExactly("200", "2000 jump 9", "1000");
    }

    @Test
    void lcfs_lastFirst() {
        queue = single(QueuePolicy.LCFS, 16);
        add("a", tokens(1), S);
        add("b", tokens(1), 2 * S);
        assertThat(drain()).containsExactly("b", "a");
    }

    @Test
    void scenario39_strictPriority_isUnsignedAndGoesBeforeAnyScore() {
        add("low", tokens(1).priorityJump(1e6), S);
        add("high", tokens(1).strictPriority(1), 2 * S);
        add("highest", tokens(1).strictPriority(-1), 3 * S);
        assertThat(drain()).containsExactly("highest", "high", "low");
    }

    @Test
    void kE5_freshHigherTierBeforeEveryDispatch_overtakesAtMost16Times() {
        add("old", tokens(1), S);
        add("old too", tokens(1), S);
        List<String> order = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            add("fresh", tokens(1).strictPriority(9), (2 + i) * S);
            Waiter<String> next = queue.poll(waiter -> true);
            order.add(next == null ? "none" : next.payload());
        }
        assertThat(order.subList(0, 16)).containsOnly("fresh");
        assertThat(order.subList(16, 18))
                .as("first in, first out among the forced")
                .containsExactly("old", "old too");
        assertThat(order.subList(18, 20)).containsOnly("fresh");
    }

    @Test
    void cancel_ofLaterOnes_isNoOvertaking() {
        queue = single(QueuePolicy.FCFS, 1);
        Waiter<String> old = add("old", tokens(1), S);
        for (int i = 0; i < 5; i++) {
            assertThat(queue.cancel(add("left", tokens(1).strictPriority(1), 2 * S)))
                    .isTrue();
        }
        add("fresh", tokens(1).strictPriority(1), 3 * S);
        assertThat(drain()).containsExactly("fresh", "old");
        assertThat(queue.cancel(old)).isFalse();
    }

    // ---- between classes

    @Test
    void scenario40_roundRobin_equalHeads_shareByQuantum() {
        queue = of(named("P", 200), named("S", 100));
        for (int i = 0; i < 4; i++) {
            add("P", tokens(100).policyClass("P"), i);
            add("S", tokens(100).policyClass("S"), i);
        }
        assertThat(drain()).containsExactly("P", "P", "S", "P", "P", "S", "S", "S");
    }

    @Test
    void scenario40_roundRobin_nobodyAffordsItsHead_earnsWholeRounds() {
        queue = of(named("P", 200), named("S", 100));
        add("S", tokens(1000).policyClass("S"), 0);
        add("P", tokens(1000).policyClass("P"), 1);
        assertThat(drain()).containsExactly("P", "S");
    }

    @Test
    void scenario40_roundRobin_blockedClassEarnsNothing_andAnEmptyOneLosesItsCredit() {
        queue = of(named("A", 100), named("B", 100));
        for (int i = 0; i < 5; i++) {
            add("A", tokens(100).policyClass("A"), i);
        }
        add("B", tokens(300).policyClass("B"), 0);
        for (int i = 0; i < 3; i++) {
            Waiter<String> next = queue.poll(waiter -> waiter.payload().equals("A"));
            assertThat(next).isNotNull();
        }
        // Had B earned its quantum on each of the three, it could afford its head in the first open round.
        assertThat(drain()).containsExactly("A", "A", "B");
        add("B", tokens(250).policyClass("B"), 9);
        add("A", tokens(150).policyClass("A"), 9);
        assertThat(drain()).as("both start from 0").containsExactly("A", "B");
    }

    @Test
    void roundRobin_hugeCosts_doNotOverflow() {
        queue = of(named("A", 1), named("B", Long.MAX_VALUE));
        add("A", tokens(Long.MAX_VALUE).policyClass("A"), 0);
        add("B", tokens(Long.MAX_VALUE).policyClass("B"), 0);
        assertThat(drain()).containsExactly("B", "A");
    }

    // ---- lanes

    @Test
    void lanes_blockedSharedHead_blocksNoPinAndNoOtherClass() {
        queue = of(named("A", 1), named("B", 1));
        WorkerRank idle = WorkerRank.of(1);
        WorkerRank busy = WorkerRank.of(2);
        add("shared", tokens(1).policyClass("A"), 0);
        add("behind", tokens(1).policyClass("A"), 1);
        add("pinned busy", tokens(1).policyClass("A").pinnedWorker(busy), 2);
        add("pinned idle", tokens(1).policyClass("A").pinnedWorker(idle), 3);
        add("other class", tokens(1).policyClass("B"), 4);
        List<String> order = drain(waiter -> !waiter.payload().equals("shared")
                && !busy.equals(waiter.request().pinnedWorker()));
        assertThat(order).containsExactlyInAnyOrder("pinned idle", "other class");
        assertThat(queue.pending(named("A", 1))).isEqualTo(new Pending(3, 3, 0));
    }

    @Test
    void kE5_pinnedHigherTierBeforeEveryDispatch_doesNotStarveTheSharedLane() {
        add("shared", tokens(1), 0);
        List<String> order = new ArrayList<>();
        for (int i = 0; i < 18; i++) {
            add("pinned", tokens(1).strictPriority(9).pinnedWorker(WorkerRank.of(1)), i);
            Waiter<String> next = queue.poll(waiter -> true);
            order.add(next == null ? "none" : next.payload());
        }
        assertThat(order.indexOf("shared")).isEqualTo(16);
    }

    // ---- limits and counters

    @Test
    void requireRoom_comparesUsageBeforeTheRequest() {
        QueueClass limited = named("c", 1).withLimits(new QueueClass.Limits(2L, 1000L, 100L));
        queue = of(limited);
        queue.requireRoom(limited, 1);
        add("crossing", tokens(5000), 50, 0);
        QueueRejectedException tokens =
                catchThrowableOfType(QueueRejectedException.class, () -> queue.requireRoom(limited, 5));
        assertThat(tokens.limit()).isEqualTo(Limit.RAW_ISL_TOKENS);
        assertThat(tokens.current()).isEqualTo(5000);
        assertThat(tokens.maximum()).isEqualTo(5000);
        queue.requireRoom(limited, 6);
        add("second", tokens(1), 0);
        QueueRejectedException requests =
                catchThrowableOfType(QueueRejectedException.class, () -> queue.requireRoom(limited, 1));
        assertThat(requests.limit()).as("requests are checked first").isEqualTo(Limit.REQUESTS);
        assertThat(requests.policyClass()).isEqualTo("c");
    }

    @Test
    void refusal_tellsWhatWaits() {
        add("a", tokens(500), 200, 0);
        QueueRejectedException refusal = queue.refusal(QueueClass.named(QueueProfile.DEFAULT_CLASS));
        assertThat(refusal.limit()).isEqualTo(Limit.DO_NOT_QUEUE);
        assertThat(refusal.pending()).isEqualTo(new Pending(1, 500, 200));
    }

    @Test
    void add_figuresAreFixedAndClamped() {
        Waiter<String> covered = add("covered", tokens(100), 900, 0);
        assertThat(covered.cachedTokens()).isEqualTo(100);
        assertThat(covered.cost).isEqualTo(1);
        assertThat(queue.pending()).isEqualTo(new Pending(1, 100, 100));
    }

    @Test
    void counters_saturateAndComeBack() {
        Waiter<String> huge = add("huge", tokens(Long.MAX_VALUE), 0);
        add("small", tokens(7), 0);
        assertThat(queue.pending().islTokens()).isEqualTo(Long.MAX_VALUE);
        queue.cancel(huge);
        assertThat(queue.pending()).isEqualTo(new Pending(1, 7, 0));
    }

    @Test
    void clear_answersAllInOrderOfArrival() {
        add("a", tokens(1).pinnedWorker(WorkerRank.of(1)), 0);
        add("b", tokens(1).strictPriority(3), 1);
        add("c", tokens(1), 2);
        assertThat(queue.clear()).extracting(Waiter::payload).containsExactly("a", "b", "c");
        assertThat(queue.isEmpty()).isTrue();
        assertThat(queue.pending()).isEqualTo(new Pending(0, 0, 0));
    }
}

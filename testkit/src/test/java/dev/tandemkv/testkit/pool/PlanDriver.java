package dev.tandemkv.testkit.pool;

import dev.tandemkv.catalog.KvTransferEnforcement;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.catalog.time.VirtualTime;
import dev.tandemkv.coordinator.CoordinatorObserver;
import dev.tandemkv.coordinator.DecodeFailurePolicy;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.DisaggPolicy;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.LinkedBookingState;
import dev.tandemkv.coordinator.OpenPlan;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.PrefillFailurePolicy;
import dev.tandemkv.coordinator.RoutingPlan;
import dev.tandemkv.selection.Prompt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

/** Plays random calls against a coordinator over two faulty pools, and notes every broken invariant. */
final class PlanDriver implements CoordinatorObserver {

    enum Operation {
        PLAN,
        PLAN_PREFILL,
        PLAN_DECODE,
        PREFILL_COMPLETE,
        RELEASE,
        CLOSE,
        CANCEL_SIGNAL,
        CANCEL_STAGE,
        CANCEL_AT_NEXT_CALL,
        ADVANCE
    }

    record Step(Operation operation, int argument) {}

    private final VirtualTime time = new VirtualTime();
    private final LedgerPool prefillLedger = new LedgerPool(workers(1));
    private final LedgerPool decodeLedger = new LedgerPool(workers(11));
    private final FaultyPool prefill;
    private final FaultyPool decode;
    private final DisaggCoordinator coordinator;
    private final boolean prefillAnchored;
    /**
     * One coordinator in five believes in a lease that passes before what is late arrives. Then a leg may have two live bookings, or one that
     * nobody knows of yet; but not at the end.
     */
    private final boolean leaseIsTrue;

    private final List<RoutingPlan> plans = new ArrayList<>();
    private final List<CancellationSignal.Source> signals = new ArrayList<>();
    private final List<CompletableFuture<RoutingPlan>> calls = new ArrayList<>();
    private final Map<String, List<LinkedBookingState>> seen = new HashMap<>();
    private final List<String> problems = new ArrayList<>();
    private CancellationSignal.Source cancelAtNextCall = CancellationSignal.source();
    private int ids;

    PlanDriver(PlanOrder order, double faultShare, long seed) {
        SeededRandom random = new SeededRandom(seed);
        prefill = new FaultyPool(prefillLedger, time, random, FaultRates.each(faultShare));
        decode = new FaultyPool(decodeLedger, time, random, FaultRates.each(faultShare));
        Runnable hook = () -> {
            CancellationSignal.Source due = cancelAtNextCall;
            cancelAtNextCall = CancellationSignal.source();
            due.cancel();
        };
        prefill.beforeEachCall(hook);
        decode.beforeEachCall(hook);
        prefillAnchored = order == PlanOrder.PREFILL_ANCHORED;
        leaseIsTrue = seed % 5 != 0;
        DisaggCoordinator.Builder builder = DisaggCoordinator.builder(prefill, decode, time)
                .ticker(time)
                .order(order)
                .lease(Duration.ofMillis(leaseIsTrue ? 300_000 : 200))
                .observer(this);
        if (prefillAnchored && seed % 2 == 0) {
            builder.decodeFailure(DecodeFailurePolicy.KEEP_FOR_RETRY);
        }
        if (order == PlanOrder.DECODE_ANCHORED && seed % 2 == 0) {
            builder.prefillFailure(PrefillFailurePolicy.BYPASS_ON_DECODE);
        }
        if (order == PlanOrder.DECODE_ANCHORED && seed % 3 == 0) {
            builder.policy(DisaggPolicy.islBounding(100, 2));
        }
        coordinator = builder.build();
    }

    private static List<WorkerSpec> workers(long first) {
        return Stream.of(0, 1, 2, 3)
                .map(i -> WorkerSpec.builder(first + i)
                        .endpoint("host" + (first + i) + ":8000")
                        .blockSize(16)
                        .topologyDomains(Map.of("zone", i % 2 == 0 ? "a" : "b"))
                        .kvTransferDomain("zone")
                        .kvTransferEnforcement(KvTransferEnforcement.REQUIRED)
                        .build())
                .toList();
    }

    List<String> problems() {
        return problems;
    }

    void run(Step step) {
        switch (step.operation) {
            case PLAN -> begin(signal -> coordinator.plan(request(step.argument), signal));
            case PLAN_PREFILL -> {
                if (prefillAnchored) {
                    begin(signal -> coordinator.planPrefill(request(step.argument), signal));
                }
            }
            case PLAN_DECODE -> withPlan(step, plan -> begin(signal -> coordinator.planDecode(plan, signal)));
            case PREFILL_COMPLETE -> withPlan(step, coordinator::prefillComplete);
            case RELEASE -> withPlan(step, coordinator::release);
            case CLOSE -> withPlan(step, RoutingPlan::close);
            case CANCEL_SIGNAL -> {
                if (!signals.isEmpty()) {
                    signals.get(step.argument % signals.size()).cancel();
                }
            }
            case CANCEL_STAGE -> {
                if (!calls.isEmpty()) {
                    calls.get(calls.size() - 1 - step.argument % calls.size()).cancel(false);
                }
            }
            case CANCEL_AT_NEXT_CALL -> {
                if (!signals.isEmpty()) {
                    cancelAtNextCall = signals.get(signals.size() - 1);
                }
            }
            case ADVANCE -> time.advance(Duration.ofMillis(1L << (2 * step.argument)));
        }
    }

    private DisaggRequest request(int size) {
        // One id in eight is used twice in a row: a live one conflicts, one that is over may come back.
        String id = "r" + (size == 0 && ids > 0 ? ids : ++ids);
        return DisaggRequest.builder(id, Prompt.ofTokens(new int[1 + 30 * size]))
                .build();
    }

    private interface Call {
        CompletionStage<RoutingPlan> start(CancellationSignal signal);
    }

    private void begin(Call call) {
        CancellationSignal.Source signal = CancellationSignal.source();
        signals.add(signal);
        CompletableFuture<RoutingPlan> stage = call.start(signal).toCompletableFuture();
        calls.add(stage);
        stage.whenComplete((plan, failure) -> {
            if (failure == null && !plans.contains(plan)) {
                plans.add(plan);
            }
            if (failure != null && !(failure instanceof SelectionException) && !stage.isCancelled()) {
                problems.add("untyped failure " + failure);
            }
        });
    }

    private interface Use {
        void on(RoutingPlan plan);
    }

    private void withPlan(Step step, Use use) {
        if (!plans.isEmpty()) {
            use.on(plans.get(plans.size() - 1 - step.argument % plans.size()));
        }
    }

    @Override
    public void onTransition(String planId, LinkedBookingState from, LinkedBookingState to) {
        if (!from.canBecome(to)) {
            problems.add("I5 " + planId + ": " + from + " > " + to);
        }
    }

    void checkInvariants() {
        if (leaseIsTrue) {
            oneLiveBookingPerLeg(prefillLedger, Leg.PREFILL);
            oneLiveBookingPerLeg(decodeLedger, Leg.DECODE);
            everythingHeldIsOwned();
        }
        plans.forEach(this::historyOnlyGrows);
        plans.forEach(this::sameZone);
    }

    private void oneLiveBookingPerLeg(LedgerPool ledger, Leg leg) {
        Map<String, Integer> byPlan = new HashMap<>();
        for (String id : ledger.liveIds()) {
            byPlan.merge(id.substring(0, id.indexOf('/')), 1, Integer::sum);
        }
        byPlan.forEach((plan, count) -> {
            if (count > 1) {
                problems.add("I1 " + plan + " holds " + count + " bookings of " + leg);
            }
        });
    }

    /** I2 and I3: what is booked belongs to a plan that is not over, or is listed as a pending free. */
    private void everythingHeldIsOwned() {
        List<String> open = coordinator.openPlans().stream().map(OpenPlan::id).toList();
        List<String> pending = coordinator.pendingFrees().stream()
                .map(free -> free.selectionId())
                .toList();
        Stream.concat(prefillLedger.liveIds().stream(), decodeLedger.liveIds().stream())
                .filter(id -> !open.contains(id.substring(0, id.indexOf('/'))) && !pending.contains(id))
                .forEach(id -> problems.add("I2 nobody owns " + id));
    }

    private void historyOnlyGrows(RoutingPlan plan) {
        List<LinkedBookingState> now = plan.transitions();
        List<LinkedBookingState> before = seen.put(System.identityHashCode(plan) + plan.id(), now);
        if (before != null && !now.subList(0, before.size()).equals(before)) {
            problems.add("I5 " + plan.id() + " rewrote its history " + before + " to " + now);
        }
        for (int i = 1; i < now.size(); i++) {
            if (!now.get(i - 1).canBecome(now.get(i))) {
                problems.add("I5 " + plan.id() + ": " + now);
            }
        }
    }

    private void sameZone(RoutingPlan plan) {
        if (plan.state() == LinkedBookingState.LINKED) {
            long zoneOfPrefill =
                    plan.selection(Leg.PREFILL).orElseThrow().worker().workerId() % 2;
            long zoneOfDecode =
                    plan.selection(Leg.DECODE).orElseThrow().worker().workerId() % 2;
            if (zoneOfPrefill != zoneOfDecode) {
                problems.add("I4 " + plan.id() + " crosses zones");
            }
        }
    }

    /** I6, I8, I9: everything is released twice and waited for; the faults go on for a while, then stop. */
    void endEverything() {
        signals.forEach(CancellationSignal.Source::cancel);
        plans.forEach(coordinator::release);
        time.advance(Duration.ofSeconds(30));
        prefill.setRates(FaultRates.NONE);
        decode.setRates(FaultRates.NONE);
        plans.forEach(RoutingPlan::close);
        coordinator.openPlans().forEach(plan -> coordinator.release(plan.id()));
        time.advance(Duration.ofMinutes(10));
        // What was given up while the faults lasted, also of plans that were over.
        coordinator.pendingFrees().forEach(free -> coordinator.release(free.planId()));
        time.advance(Duration.ofMinutes(1));
        checkInvariants();
        if (!coordinator.openPlans().isEmpty() || !coordinator.pendingFrees().isEmpty()) {
            problems.add("I9 still open: " + coordinator.openPlans() + coordinator.pendingFrees());
        }
        if (prefillLedger.liveBookings() + decodeLedger.liveBookings() > 0) {
            problems.add("I8 still held: " + prefillLedger.liveIds() + decodeLedger.liveIds());
        }
        for (CompletableFuture<RoutingPlan> call : calls) {
            if (!call.isDone()) {
                problems.add("a call was never answered");
            }
        }
        long load = 0;
        for (long worker = 0; worker < 20; worker++) {
            load += prefillLedger.blocks(worker) + prefillLedger.prefillTokens(worker);
            load += decodeLedger.blocks(worker) + decodeLedger.prefillTokens(worker);
        }
        if (load != 0) {
            problems.add("I8 load left: " + load);
        }
    }
}

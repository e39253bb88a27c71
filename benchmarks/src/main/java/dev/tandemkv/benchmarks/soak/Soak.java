package dev.tandemkv.benchmarks.soak;

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
import dev.tandemkv.coordinator.PendingFree;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.PrefillFailurePolicy;
import dev.tandemkv.coordinator.RoutingPlan;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.RankLoad;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.testkit.pool.FaultKind;
import dev.tandemkv.testkit.pool.FaultRates;
import dev.tandemkv.testkit.pool.FaultyPool;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests through coordinators of every order over two production cores behind faulty pools. One request arrives each virtual
 * millisecond; it is planned, maybe cancelled at a random call or a random time, its prefill ends, it is released. Single-threaded.
 */
final class Soak implements CoordinatorObserver {

    private static final int WORKERS = 8;
    private static final int BLOCK = 16;
    private static final double SHARE_OF_EACH_FAULT = 0.02;

    private final VirtualTime time = new VirtualTime();
    private final SeededRandom random;
    private final SelectionCore prefillCore;
    private final SelectionCore decodeCore;
    private final FaultyPool prefill;
    private final FaultyPool decode;
    private final List<DisaggCoordinator> coordinators;
    private final SortedMap<String, Long> outcomes = new TreeMap<>();
    private final long seed;
    private long cancellations;
    private long leakReports;
    private CancellationSignal.@Nullable Source cancelAtNextCall;

    Soak(long seed) {
        this.seed = seed;
        random = new SeededRandom(seed);
        prefillCore = core(1);
        decodeCore = core(101);
        FaultRates rates = FaultRates.each(SHARE_OF_EACH_FAULT);
        prefill = new FaultyPool(prefillCore, time, new SeededRandom(seed + 1), rates);
        decode = new FaultyPool(decodeCore, time, new SeededRandom(seed + 2), rates);
        prefill.beforeEachCall(this::beforeEachCall);
        decode.beforeEachCall(this::beforeEachCall);
        coordinators = List.of(
                of(PlanOrder.PREFILL_ANCHORED)
                        .decodeFailure(DecodeFailurePolicy.KEEP_FOR_RETRY)
                        .build(),
                of(PlanOrder.DECODE_ANCHORED)
                        .policy(DisaggPolicy.islBounding(100, 2))
                        .prefillFailure(PrefillFailurePolicy.BYPASS_ON_DECODE)
                        .build(),
                of(PlanOrder.JOINT).random(new SeededRandom(seed + 3)).build());
    }

    private DisaggCoordinator.Builder of(PlanOrder order) {
        return DisaggCoordinator.builder(prefill, decode, time)
                .ticker(time)
                .observer(this)
                .order(order);
    }

    private SelectionCore core(long firstWorker) {
        SelectionCore core = SelectionCore.builder()
                .ticker(time)
                .clock(time.clock())
                .scheduler(time)
                .random(new SeededRandom(seed + firstWorker))
                .build();
        for (long id = firstWorker; id < firstWorker + WORKERS; id++) {
            core.upsert(WorkerSpec.builder(id)
                    .endpoint("host" + id + ":8000")
                    .blockSize(BLOCK)
                    .totalKvBlocks(100_000L)
                    .topologyDomains(Map.of("zone", id % 2 == 0 ? "even" : "odd"))
                    .kvTransferDomain("zone")
                    .kvTransferEnforcement(KvTransferEnforcement.REQUIRED)
                    .build());
        }
        return core;
    }

    SoakResult run(long requests) {
        for (long i = 0; i < requests; i++) {
            arrive(i);
            time.advance(Duration.ofMillis(1));
        }
        time.advance(Duration.ofMinutes(2));
        prefill.setRates(FaultRates.NONE);
        decode.setRates(FaultRates.NONE);
        // What was given up as leaked is tried again by a release; everything else ends by itself.
        coordinators.forEach(c -> c.openPlans().forEach(plan -> c.release(plan.id())));
        time.advance(Duration.ofMinutes(10));
        return result(requests);
    }

    private void arrive(long number) {
        DisaggCoordinator coordinator = coordinators.get((int) (number % coordinators.size()));
        DisaggRequest request = DisaggRequest.builder("r" + number, Prompt.ofTokens(new int[1 + random.nextInt(300)]))
                .expectedOutputTokens(64)
                .build();
        CancellationSignal.Source signal = CancellationSignal.source();
        int fate = random.nextInt(20);
        if (fate == 0) {
            cancelAtNextCall = signal;
        } else if (fate == 1) {
            later(3_000, () -> cancel(signal));
        }
        boolean inTwoCalls = coordinator.order() == PlanOrder.PREFILL_ANCHORED && random.nextInt(2) == 0;
        CompletionStage<RoutingPlan> call =
                inTwoCalls ? coordinator.planPrefill(request, signal) : coordinator.plan(request, signal);
        call.whenComplete((plan, failure) -> {
            if (failure != null) {
                count(failure);
            } else if (inTwoCalls) {
                later(200, () -> decodeNext(coordinator, plan, signal));
            } else {
                serve(coordinator, plan);
            }
        });
    }

    private void decodeNext(DisaggCoordinator coordinator, RoutingPlan plan, CancellationSignal signal) {
        if (random.nextInt(2) == 0) {
            coordinator.prefillComplete(plan);
        }
        coordinator.planDecode(plan, signal).whenComplete((same, failure) -> {
            if (failure == null) {
                serve(coordinator, plan);
            } else {
                count(failure);
                plan.close();
            }
        });
    }

    private void serve(DisaggCoordinator coordinator, RoutingPlan plan) {
        outcomes.merge(plan.state().name(), 1L, Long::sum);
        later(500, () -> coordinator.prefillComplete(plan));
        later(2_000, plan::close);
    }

    private void count(Throwable failure) {
        String kind = failure instanceof SelectionException typed
                ? typed.kind().name()
                : failure.getClass().getSimpleName();
        outcomes.merge("FAILED_" + kind, 1L, Long::sum);
    }

    private void later(int mostMillis, Runnable work) {
        time.schedule(Duration.ofMillis(random.nextInt(mostMillis)), work);
    }

    private void cancel(CancellationSignal.Source signal) {
        cancellations++;
        signal.cancel();
    }

    private void beforeEachCall() {
        CancellationSignal.Source due = cancelAtNextCall;
        if (due != null && random.nextInt(3) == 0) {
            cancelAtNextCall = null;
            cancel(due);
        }
    }

    @Override
    public void onLeak(PendingFree free) {
        leakReports++;
    }

    private SoakResult result(long requests) {
        SortedMap<String, Long> faults = new TreeMap<>();
        for (FaultyPool pool : List.of(prefill, decode)) {
            for (Map.Entry<FaultKind, Long> fault : pool.faults().entrySet()) {
                faults.merge(fault.getKey().name(), fault.getValue(), Long::sum);
            }
        }
        faults.put("CANCELLATION", cancellations);
        return new SoakResult(
                requests,
                seed,
                faults,
                outcomes,
                held(prefillCore) + held(decodeCore),
                coordinators.stream().mapToLong(c -> c.pendingFrees().size()).sum(),
                leakReports,
                coordinators.stream().mapToLong(c -> c.openPlans().size()).sum(),
                time.read() / 1_000_000_000L);
    }

    /** What a core still carries for requests, whatever figure shows it. */
    private static long held(SelectionCore core) {
        long held = core.stats().reservations();
        for (PartitionLoads partition : core.loads()) {
            for (RankLoad load : partition.loads()) {
                held += load.activeRequests() + load.potentialDecodeBlocks() + load.potentialPrefillTokens();
            }
        }
        return held;
    }
}

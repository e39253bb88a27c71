package dev.tandemkv.testkit.sim;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.coordinator.DisaggCoordinator;
import dev.tandemkv.coordinator.DisaggRequest;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.PlanOrder;
import dev.tandemkv.coordinator.RoutingPlan;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import dev.tandemkv.testkit.engine.EngineRequest;
import dev.tandemkv.testkit.engine.EngineRequest.Work;
import dev.tandemkv.testkit.sim.Clockwork.Kind;
import dev.tandemkv.testkit.trace.TraceRequest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Prefill and decode workers behind two pools, paired by the coordinator. Prefill-anchored, the decode worker is chosen when the prefill is
 * done, as a gateway does that sends the prefill first; decode-anchored, both are chosen on arrival.
 */
final class DisaggregatedRun implements Clockwork.Handler, EnginePool.Progress {

    private final Run run;
    private final Topology.Transfer transfer;
    private final EnginePool prefill;
    private final EnginePool decode;
    private final DisaggCoordinator coordinator;
    private final RequestLog log;
    private final @Nullable RoutingPlan[] plans;

    DisaggregatedRun(Run run, Topology.Disaggregated topology, SimulatedPool.Factory pools) {
        this.run = run;
        this.transfer = topology.transfer();
        this.prefill = new EnginePool(run, Role.PREFILL, topology.prefillWorkers(), 0, pools, this);
        this.decode =
                new EnginePool(run, Role.DECODE, topology.decodeWorkers(), topology.prefillWorkers(), pools, this);
        this.coordinator = DisaggCoordinator.builder(
                        prefill.router().pool(), decode.router().pool(), run.time())
                .ticker(run.time())
                .order(topology.order())
                .policy(topology.policy())
                .build();
        this.log = new RequestLog(run.workload());
        this.plans = new RoutingPlan[run.workload().requests()];
    }

    SimulationResult execute() {
        run.scheduleArrival(0);
        run.clock().run(this, log::allSettled);
        long end = run.clock().now();
        List<WorkerTimeline> workers = new ArrayList<>(prefill.timelines(end));
        workers.addAll(decode.timelines(end));
        return new SimulationResult(
                log.traffic(),
                log.latency(),
                prefill.router().openBookings() + decode.router().openBookings(),
                workers,
                run.stepNanos() / 1e9);
    }

    @Override
    public void handle(Kind kind, int payload) {
        switch (kind) {
            case KV_EVENT -> poolOf(payload).deliver();
            case ITERATION_END -> poolOf(payload).endIteration(payload);
            case ENGINE_START -> poolOf(payload).start(payload);
            case ARRIVAL -> {
                run.scheduleArrival(payload + 1);
                plan(payload);
            }
            case SUBMIT -> startPrefill(payload);
            case TRANSFER_END -> submit(decode, Leg.DECODE, payload, Work.DECODE_ONLY);
        }
    }

    private EnginePool poolOf(int engine) {
        return prefill.owns(engine) ? prefill : decode;
    }

    private void plan(int r) {
        DisaggRequest request = DisaggRequest.builder(
                        Integer.toString(r), run.workload().prompt(r))
                .expectedOutputTokens(run.workload().request(r).outputTokens())
                .build();
        var planning = coordinator.order() == PlanOrder.PREFILL_ANCHORED
                ? coordinator.planPrefill(request, CancellationSignal.never())
                : coordinator.plan(request, CancellationSignal.never());
        planning.whenComplete((plan, failure) -> {
            if (failure != null) {
                log.refused(RequestLog.kindOf(failure));
                return;
            }
            plans[r] = plan;
            run.clock().now(Kind.SUBMIT, r);
        });
    }

    private void startPrefill(int r) {
        if (planOf(r).isBypass()) {
            log.prefilledLocally();
            submit(decode, Leg.DECODE, r, Work.PREFILL_AND_DECODE);
        } else {
            submit(prefill, Leg.PREFILL, r, Work.PREFILL_ONLY);
        }
    }

    private void submit(EnginePool pool, Leg leg, int r, Work work) {
        TraceRequest request = run.workload().request(r);
        EngineRequest engineRequest = new EngineRequest(
                r, run.workload().blocks(r), request.inputTokens(), Math.max(1, request.outputTokens()), work);
        if (!pool.submit(workerOf(r, leg), engineRequest)) {
            planOf(r).close();
            log.refused(SelectionException.Kind.EXCEEDS_CAPACITY);
        }
    }

    @Override
    public void admitted(EnginePool pool, EngineRequest request, int cachedTokens) {
        if (request.work() != Work.DECODE_ONLY) {
            log.prefilling(request.id(), cachedTokens);
        }
    }

    @Override
    public void firstToken(EnginePool pool, EngineRequest request) {
        int r = request.id();
        log.firstToken(r, run.clock().now());
        coordinator.prefillComplete(planOf(r));
        if (request.work() == Work.PREFILL_ONLY && request.outputTokens() > 1) {
            handOver(r);
        }
    }

    /** Chooses a decode worker if none is chosen yet, and sends it what it lacks. */
    private void handOver(int r) {
        if (coordinator.order() != PlanOrder.PREFILL_ANCHORED) {
            startTransfer(r);
            return;
        }
        coordinator.planDecode(planOf(r), CancellationSignal.never()).whenComplete((plan, failure) -> {
            if (failure != null) {
                log.refused(RequestLog.kindOf(failure));
            } else {
                startTransfer(r);
            }
        });
    }

    private void startTransfer(int r) {
        int input = run.workload().request(r).inputTokens();
        int missing = input - decode.heldTokens(workerOf(r, Leg.DECODE), r);
        log.transferred(missing);
        run.clock().at(run.clock().now() + transfer.nanos(missing), Kind.TRANSFER_END, r);
    }

    @Override
    public void grewByBlock(EnginePool pool, EngineRequest request) {
        planOf(request.id()).booking(Leg.DECODE).ifPresent(booking -> booking.addOutputBlocks(1));
    }

    @Override
    public void finished(EnginePool pool, EngineRequest request) {
        if (request.work() == Work.PREFILL_ONLY && request.outputTokens() > 1) {
            return;
        }
        planOf(request.id()).close();
        log.finished(request.id(), run.clock().now());
    }

    private WorkerRank workerOf(int r, Leg leg) {
        return planOf(r)
                .selection(leg)
                .orElseThrow(() -> new IllegalStateException("request " + r + " has no " + leg + " worker"))
                .worker();
    }

    private RoutingPlan planOf(int r) {
        RoutingPlan plan = plans[r];
        if (plan == null) {
            throw new IllegalStateException("request " + r + " is not planned");
        }
        return plan;
    }
}

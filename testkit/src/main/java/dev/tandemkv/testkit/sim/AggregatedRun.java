package dev.tandemkv.testkit.sim;

import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import dev.tandemkv.testkit.engine.EngineRequest;
import dev.tandemkv.testkit.sim.Clockwork.Kind;
import dev.tandemkv.testkit.trace.TraceRequest;
import org.jspecify.annotations.Nullable;

/** Workers that prefill and decode alike, behind one pool. */
final class AggregatedRun implements Clockwork.Handler, EnginePool.Progress {

    private final Run run;
    private final EnginePool workers;
    private final RequestLog log;
    private final @Nullable Booking[] bookings;

    AggregatedRun(Run run, int workers, SimulatedPool.Factory pools) {
        this.run = run;
        this.workers = new EnginePool(run, Role.AGGREGATED, workers, 0, pools, this);
        this.log = new RequestLog(run.workload());
        this.bookings = new Booking[run.workload().requests()];
    }

    SimulationResult execute() {
        run.scheduleArrival(0);
        run.clock().run(this, log::allSettled);
        return new SimulationResult(
                log.traffic(),
                log.latency(),
                workers.router().openBookings(),
                workers.timelines(run.clock().now()),
                run.stepNanos() / 1e9);
    }

    @Override
    public void handle(Kind kind, int payload) {
        switch (kind) {
            case KV_EVENT -> workers.deliver();
            case ITERATION_END -> workers.endIteration(payload);
            case ARRIVAL -> {
                run.scheduleArrival(payload + 1);
                route(payload);
            }
            case SUBMIT -> submit(payload);
            case ENGINE_START -> workers.start(payload);
            case TRANSFER_END -> throw new IllegalStateException("nothing is transferred here");
        }
    }

    private void route(int r) {
        SelectRequest request = SelectRequest.builder(run.workload().prompt(r))
                .selectionId(Integer.toString(r))
                .expectedOutputTokens(run.workload().request(r).outputTokens())
                .build();
        workers.router().pool().selectAndReserve(request).whenComplete((booking, failure) -> {
            if (failure != null) {
                log.refused(RequestLog.kindOf(failure));
                return;
            }
            bookings[r] = booking;
            // Through the agenda: the answer may come while an engine is telling of another request.
            run.clock().now(Kind.SUBMIT, r);
        });
    }

    private void submit(int r) {
        TraceRequest request = run.workload().request(r);
        EngineRequest work = new EngineRequest(
                r,
                run.workload().blocks(r),
                request.inputTokens(),
                Math.max(1, request.outputTokens()),
                EngineRequest.Work.PREFILL_AND_DECODE);
        if (!workers.submit(booking(r).id().worker(), work)) {
            booking(r).close();
            log.refused(SelectionException.Kind.EXCEEDS_CAPACITY);
        }
    }

    private Booking booking(int r) {
        Booking booking = bookings[r];
        if (booking == null) {
            throw new IllegalStateException("request " + r + " is not booked");
        }
        return booking;
    }

    @Override
    public void admitted(EnginePool pool, EngineRequest request, int cachedTokens) {
        log.prefilling(request.id(), cachedTokens);
    }

    @Override
    public void firstToken(EnginePool pool, EngineRequest request) {
        log.firstToken(request.id(), run.clock().now());
        booking(request.id()).prefillComplete();
    }

    @Override
    public void grewByBlock(EnginePool pool, EngineRequest request) {
        booking(request.id()).addOutputBlocks(1);
    }

    @Override
    public void finished(EnginePool pool, EngineRequest request) {
        booking(request.id()).close();
        log.finished(request.id(), run.clock().now());
    }
}

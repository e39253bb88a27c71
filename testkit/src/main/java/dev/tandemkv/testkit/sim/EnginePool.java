package dev.tandemkv.testkit.sim;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import dev.tandemkv.testkit.engine.EngineListener;
import dev.tandemkv.testkit.engine.EngineRequest;
import dev.tandemkv.testkit.engine.FakeEngine;
import dev.tandemkv.testkit.sim.Clockwork.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * The engines of one pool, and the way of their KV events to the router. The worker with id w is engine w - 1 of its pool; on the agenda
 * engines are numbered through all pools, this one's from {@code firstEngine}.
 */
final class EnginePool {

    /** Learns what becomes of requests. It must not submit from inside a call. */
    interface Progress {
        void firstToken(EnginePool pool, EngineRequest request);

        void grewByBlock(EnginePool pool, EngineRequest request);

        void finished(EnginePool pool, EngineRequest request);

        void admitted(EnginePool pool, EngineRequest request, int cachedTokens);
    }

    private record Delivery(WorkerRank worker, KvEvent event) {}

    private final String name;
    private final EngineSetup setup;
    private final Clockwork clock;
    private final Workload workload;
    private final int firstEngine;
    private final Progress progress;
    private final List<Engine> engines = new ArrayList<>();
    /** In order of due time, since every event is delayed alike. */
    private final ArrayDeque<Delivery> underway = new ArrayDeque<>();

    private final SimulatedPool router;

    EnginePool(Run run, Role role, int workers, int firstEngine, SimulatedPool.Factory factory, Progress progress) {
        this.name = role == Role.AGGREGATED ? "worker" : role.wireName();
        this.setup = run.engines();
        this.clock = run.clock();
        this.workload = run.workload();
        this.firstEngine = firstEngine;
        this.progress = progress;
        List<WorkerSpec> specs = new ArrayList<>();
        for (int w = 0; w < workers; w++) {
            specs.add(WorkerSpec.builder(w + 1L)
                    .endpoint(name + "-" + (w + 1) + ".sim:8000")
                    .blockSize(setup.model().blockTokens())
                    .totalKvBlocks((long) setup.cacheBlocks())
                    .maxNumBatchedTokens((long) setup.model().tokenBudget())
                    .build());
            engines.add(new Engine(w, run.stepNanos()));
        }
        this.router = factory.create(
                new SimulatedPool.Setup(role, specs, setup.model().blockTokens(), run.time(), run.randomFor(name)));
    }

    SimulatedPool router() {
        return router;
    }

    boolean owns(int engine) {
        return engine >= firstEngine && engine < firstEngine + engines.size();
    }

    /**
     * Hands a request to a worker, which starts at this instant if it is idle.
     *
     * @return false if it could never fit that worker
     */
    boolean submit(WorkerRank worker, EngineRequest request) {
        Engine engine = engine(worker);
        if (!engine.engine.submit(request)) {
            return false;
        }
        engine.timeline.arrived(clock.now());
        clock.now(Kind.ENGINE_START, firstEngine + engine.index);
        return true;
    }

    /** Leading tokens of a request that a worker holds, its whole prompt at the most. */
    int heldTokens(WorkerRank worker, int r) {
        return engine(worker)
                .engine
                .heldTokens(workload.blocks(r), workload.request(r).inputTokens());
    }

    private Engine engine(WorkerRank worker) {
        return engines.get((int) worker.workerId() - 1);
    }

    void start(int engineNumber) {
        Engine engine = engines.get(engineNumber - firstEngine);
        if (engine.engine.iterationEnd() == FakeEngine.IDLE) {
            engine.engine.start(clock.now());
            scheduleEnd(engine);
        }
    }

    void endIteration(int engineNumber) {
        Engine engine = engines.get(engineNumber - firstEngine);
        engine.engine.endIteration();
        scheduleEnd(engine);
    }

    private void scheduleEnd(Engine engine) {
        if (engine.engine.iterationEnd() != FakeEngine.IDLE) {
            clock.at(engine.engine.iterationEnd(), Kind.ITERATION_END, firstEngine + engine.index);
        }
    }

    /** Delivers the event that has been underway longest. */
    void deliver() {
        Delivery due = underway.remove();
        router.cacheChanged(due.worker, due.event);
    }

    private void publish(WorkerRank worker, KvEvent event) {
        var delay = setup.delivery().delay();
        if (delay == null) {
            return;
        }
        if (delay.isZero()) {
            router.cacheChanged(worker, event);
            return;
        }
        underway.add(new Delivery(worker, event));
        clock.at(clock.now() + delay.toNanos(), Kind.KV_EVENT, firstEngine);
    }

    List<WorkerTimeline> timelines(long end) {
        List<WorkerTimeline> timelines = new ArrayList<>();
        for (Engine engine : engines) {
            timelines.add(engine.timeline.finish(name + "-" + (engine.index + 1), engine.engine.busyNanos(), end));
        }
        return timelines;
    }

    /** One engine and its bookkeeping. */
    private final class Engine implements EngineListener {
        private final int index;
        private final WorkerRank rank;
        private final FakeEngine engine;
        private final TimelineRecorder timeline;
        /** Blocks that the router was told of; partial ones it never is. */
        private final BitSet announced = new BitSet(workload.tree().size());

        private long[] evicted = new long[64];
        private int evictedCount;

        Engine(int index, long stepNanos) {
            this.index = index;
            this.rank = WorkerRank.of(index + 1L);
            this.engine = new FakeEngine(setup.model(), setup.cacheBlocks(), this);
            this.timeline = new TimelineRecorder(stepNanos);
        }

        @Override
        public void admitted(EngineRequest request, int cachedTokens) {
            flushEvicted();
            if (request.work() != EngineRequest.Work.DECODE_ONLY) {
                timeline.admitted(clock.now(), request.inputTokens(), cachedTokens);
            }
            progress.admitted(EnginePool.this, request, cachedTokens);
        }

        @Override
        public void firstToken(EngineRequest request) {
            progress.firstToken(EnginePool.this, request);
        }

        @Override
        public void grewByBlock(EngineRequest request) {
            progress.grewByBlock(EnginePool.this, request);
        }

        @Override
        public void finished(EngineRequest request) {
            timeline.left(clock.now());
            progress.finished(EnginePool.this, request);
        }

        @Override
        public void stored(EngineRequest request, int from, int to) {
            int[] blocks = request.blocks();
            for (int i = from; i < to; i++) {
                announced.set(blocks[i]);
            }
            Long parent = from == 0 ? null : workload.sequenceHash(blocks[from - 1]);
            int r = request.id();
            publish(rank, KvEvent.Stored.device(parent, workload.sequences(r, from, to), workload.locals(r, from, to)));
        }

        @Override
        public void evicted(int block) {
            if (!announced.get(block)) {
                return;
            }
            announced.clear(block);
            if (evictedCount == evicted.length) {
                evicted = Arrays.copyOf(evicted, evictedCount * 2);
            }
            evicted[evictedCount++] = workload.sequenceHash(block);
        }

        /** What one admission evicted goes out as one event, as engines send it. */
        private void flushEvicted() {
            if (evictedCount > 0) {
                publish(rank, KvEvent.Removed.device(Arrays.copyOf(evicted, evictedCount)));
                evictedCount = 0;
            }
        }
    }
}

package dev.tandemkv.selection.internal.run;

import dev.tandemkv.selection.OverlapReport;
import dev.tandemkv.selection.RankLoad;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.Readiness;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionStats;
import dev.tandemkv.selection.internal.membership.WorkerRegistry;
import dev.tandemkv.selection.internal.partition.Attempt;
import dev.tandemkv.selection.internal.partition.Attempt.Purpose;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.partition.ReadModels;
import java.util.List;
import java.util.Optional;

/** What can be read of a core beside decisions. Thread-safe; changes nothing. */
public final class Readings {

    private final Engine engine;
    private final WorkerRegistry workers;

    public Readings(Engine engine, WorkerRegistry workers) {
        this.engine = engine;
        this.workers = workers;
    }

    public List<RankLoad> potentialLoads(SelectRequest request) {
        Partition in = engine.ready(request.partition());
        return ReadModels.potentialLoads(in, attempt(in, request));
    }

    public Optional<List<RankScore>> score(SelectRequest request) {
        Partition in = engine.ready(request.partition());
        Narrowing.requirePinAllowed(request);
        Attempt attempt = attempt(in, request);
        attempt.allowed(Narrowing.allowed(in, request, engine.core().host()));
        return ReadModels.score(in, attempt);
    }

    public OverlapReport overlapScores(SelectRequest request) {
        Partition in = engine.ready(request.partition());
        Attempt attempt = attempt(in, request);
        return new OverlapReport(
                in.blockSize(), attempt.prompt().blockHashes().length, ReadModels.overlaps(in, attempt), null);
    }

    private Attempt attempt(Partition in, SelectRequest request) {
        Boolean track = request.override().trackPrefillTokens();
        return new Attempt(
                request,
                Purpose.ADVISORY,
                in.hashing().prepare(request.prompt(), request.override()),
                track == null ? engine.core().config().tracking().prefillTokens() : track);
    }

    public Readiness ready() {
        int schedulable = workers.schedulable();
        return new Readiness(!engine.isClosed() && schedulable > 0, schedulable, workers.list());
    }

    public SelectionStats stats() {
        return engine.core()
                .counters()
                .snapshot(engine.reservations().size(), engine.pending().size());
    }
}

package dev.tandemkv.examples.quickstart;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.OverlapReport;
import dev.tandemkv.selection.RankLoad;
import dev.tandemkv.selection.RankOverlap;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import dev.tandemkv.testkit.report.Decimals;
import dev.tandemkv.testkit.report.ReportContent.ExplainedDecision;
import dev.tandemkv.testkit.report.Table;
import dev.tandemkv.testkit.sim.CorePool;
import dev.tandemkv.testkit.sim.SimulatedPool;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A pool that looks over a core's shoulder, and keeps the first decision worth showing: one of the second half of the trace, when caches are
 * warm, with a prompt that some worker holds a good part of. Everything else it passes on.
 */
final class ExplainedRun implements SimulatedPool, SelectionPool {

    /** Blocks that some worker holds of a prompt worth explaining. */
    private static final int WORTH_EXPLAINING = 4;

    private static final List<String> COLUMNS =
            List.of("worker", "blocks held", "prefill tokens", "decode blocks", "requests", "cost", "");

    private final CorePool watched;
    private final int firstRequest;
    private @Nullable ExplainedDecision decision;
    private boolean settled;

    ExplainedRun(CorePool watched, int firstRequest) {
        this.watched = watched;
        this.firstRequest = firstRequest;
    }

    /** What was kept; {@code null} if no request came by. */
    @Nullable
    ExplainedDecision decision() {
        return decision;
    }

    @Override
    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        String id = request.selectionId();
        if (settled || id == null || Integer.parseInt(id) < firstRequest) {
            return watched.core().selectAndReserve(request);
        }
        // Everything is read before the booking, as the decision itself sees it.
        OverlapReport overlaps = watched.core().overlapScores(request);
        List<RankLoad> loads = watched.core().potentialLoads(request);
        CompletionStage<Optional<List<RankScore>>> scores = watched.core().score(request);
        CompletionStage<Booking> booked = watched.core().selectAndReserve(request);
        boolean worthIt = overlaps.workers().stream().anyMatch(w -> w.deviceBlocks() >= WORTH_EXPLAINING);
        if (worthIt || decision == null) {
            scores.thenCombine(
                            booked,
                            (costs, booking) -> explain(request, booking, overlaps, loads, costs.orElse(List.of())))
                    .thenAccept(explained -> decision = explained);
            settled = worthIt;
        }
        return booked;
    }

    private static ExplainedDecision explain(
            SelectRequest request,
            Booking booking,
            OverlapReport overlaps,
            List<RankLoad> loads,
            List<RankScore> costs) {
        WorkerRank chosen = booking.id().worker();
        List<List<String>> rows = new ArrayList<>();
        for (RankLoad load : loads) {
            rows.add(List.of(
                    name(load.worker()),
                    Integer.toString(held(overlaps, load.worker())),
                    String.format(Locale.ROOT, "%,d", load.potentialPrefillTokens()),
                    String.format(Locale.ROOT, "%,d", load.potentialDecodeBlocks()),
                    Integer.toString(load.activeRequests()),
                    costs.stream()
                            .filter(c -> c.worker().equals(load.worker()))
                            .map(c -> Decimals.rounded(c.cost(), 2).toPlainString())
                            .findFirst()
                            .orElse("-"),
                    load.worker().equals(chosen) ? "<- chosen" : ""));
        }
        String caption = String.format(
                Locale.ROOT,
                "Request %s under kv-aware: %,d prompt tokens, %d full blocks, went to %s. Cost in blocks: prefill tokens / %d + decode"
                        + " blocks, both with this prompt; lowest wins.",
                request.selectionId(),
                request.prompt().islTokens(),
                overlaps.blocks(),
                name(chosen),
                overlaps.blockSize());
        return new ExplainedDecision(caption, new Table(COLUMNS, rows));
    }

    private static int held(OverlapReport overlaps, WorkerRank worker) {
        return overlaps.workers().stream()
                .filter(o -> o.worker().equals(worker))
                .mapToInt(RankOverlap::deviceBlocks)
                .findFirst()
                .orElse(0);
    }

    private static String name(WorkerRank worker) {
        return "worker-" + worker.workerId();
    }

    @Override
    public SelectionPool pool() {
        return this;
    }

    @Override
    public void cacheChanged(WorkerRank worker, KvEvent event) {
        watched.cacheChanged(worker, event);
    }

    @Override
    public int openBookings() {
        return watched.openBookings();
    }

    @Override
    public CompletionStage<Selection> select(SelectRequest request) {
        return watched.core().select(request);
    }

    @Override
    public CompletionStage<FreeOutcome> free(Booking booking) {
        return watched.core().free(booking);
    }

    @Override
    public CompletionStage<FreeOutcome> free(String selectionId) {
        return watched.core().free(selectionId);
    }

    @Override
    public CompletionStage<@Nullable Void> prefillComplete(Booking booking) {
        return watched.core().prefillComplete(booking);
    }

    @Override
    public CompletionStage<@Nullable Void> touch(Booking booking) {
        return watched.core().touch(booking);
    }

    @Override
    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
        return watched.core().workerRecord(partition, workerId);
    }
}

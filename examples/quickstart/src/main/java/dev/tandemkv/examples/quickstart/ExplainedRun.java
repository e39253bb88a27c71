package dev.tandemkv.examples.quickstart;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import dev.tandemkv.selection.explain.Explanation;
import dev.tandemkv.selection.explain.Explanation.Candidate;
import dev.tandemkv.testkit.report.Decimals;
import dev.tandemkv.testkit.report.ReportContent.ExplainedDecision;
import dev.tandemkv.testkit.report.Table;
import dev.tandemkv.testkit.sim.CorePool;
import dev.tandemkv.testkit.sim.SimulatedPool;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A pool that looks over a core's shoulder, and keeps the first decision worth showing: one of the second half of the trace, when caches are
 * warm, with a prompt that some worker holds a good part of. Everything else it passes on.
 */
final class ExplainedRun implements SimulatedPool, SelectionPool {

    /** Blocks that some worker holds of a prompt worth explaining. */
    private static final int WORTH_EXPLAINING = 4;

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
        SelectRequest curious = request.toBuilder()
                .explanation(SelectRequest.Explain.EVERY_CANDIDATE)
                .build();
        CompletionStage<Booking> booked = watched.core().selectAndReserve(curious);
        booked.thenAccept(booking -> keep(booking.selection()));
        return booked;
    }

    private void keep(Selection selection) {
        Explanation explanation = selection.explanation();
        if (explanation == null) {
            return;
        }
        settled = explanation.candidates().stream().anyMatch(c -> c.deviceBlocks() >= WORTH_EXPLAINING);
        if (settled || decision == null) {
            decision = explained(selection, explanation);
        }
    }

    /** Terms in which the candidates differ become columns; what is the same for all, and counts, is told once. */
    private static ExplainedDecision explained(Selection selection, Explanation explanation) {
        Map<Candidate, Map<String, Double>> terms = new LinkedHashMap<>();
        for (Candidate candidate : explanation.candidates()) {
            Map<String, Double> values = new LinkedHashMap<>();
            candidate.contributions().forEach(c -> values.putAll(c.terms().values()));
            terms.put(candidate, values);
        }
        Map<String, Double> first = terms.values().iterator().next();
        List<String> varying = first.keySet().stream()
                .filter(term ->
                        terms.values().stream().map(v -> v.get(term)).distinct().count() > 1)
                .toList();

        List<String> columns = new ArrayList<>(List.of("worker"));
        columns.addAll(varying);
        columns.addAll(List.of("cost", ""));
        List<List<String>> rows = new ArrayList<>();
        terms.forEach((candidate, values) -> {
            List<String> row = new ArrayList<>(List.of(name(candidate.worker())));
            varying.forEach(term -> row.add(number(values.getOrDefault(term, 0.0))));
            row.add(number(candidate.cost()));
            row.add(candidate.worker().equals(explanation.chosen()) ? "<- chosen" : "");
            rows.add(row);
        });
        String same = first.entrySet().stream()
                .filter(term -> !varying.contains(term.getKey()) && term.getValue() != 0)
                .map(term -> term.getKey() + ' ' + number(term.getValue()))
                .collect(Collectors.joining(", "));
        String caption = String.format(
                Locale.ROOT,
                "Request %s: %s chose %s for %,d prompt tokens in blocks of %d; the lowest cost wins.\nThe same for all, and not 0: %s.",
                selection.selectionId(),
                explanation.policy(),
                name(explanation.chosen()),
                selection.islTokens(),
                selection.blockSize(),
                same);
        return new ExplainedDecision(caption, new Table(columns, rows));
    }

    private static String number(double value) {
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%,d", Math.round(value))
                : Decimals.rounded(value, 2).toPlainString();
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

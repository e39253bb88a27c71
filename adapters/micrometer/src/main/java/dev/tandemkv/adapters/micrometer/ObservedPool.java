package dev.tandemkv.adapters.micrometer;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.ChargeOutcome;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import io.micrometer.observation.Observation;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A pool whose selections and releases are observed; the rest passes through. */
final class ObservedPool implements SelectionPool {

    private static final String RUNG = "rung";

    private final SelectionPool pool;
    private final RoutingObservations observations;

    ObservedPool(SelectionPool pool, RoutingObservations observations) {
        this.pool = pool;
        this.observations = observations;
    }

    @Override
    public CompletionStage<Selection> select(SelectRequest request) {
        return observations.observed(
                RoutingObservations.SELECT,
                observation -> begun(observation, "select"),
                ObservedPool::chosen,
                () -> pool.select(request));
    }

    @Override
    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        return observations.observed(
                RoutingObservations.SELECT,
                observation -> begun(observation, "reserve"),
                (observation, booking) -> chosen(observation, booking.selection()),
                () -> pool.selectAndReserve(request));
    }

    /** Every key is there from the start: a registry of metrics wants the same keys each time. */
    private static void begun(Observation observation, String call) {
        observation.lowCardinalityKeyValue("call", call).lowCardinalityKeyValue(RUNG, "none");
    }

    private static void chosen(Observation observation, Selection selection) {
        observation
                .lowCardinalityKeyValue(RUNG, PartitionMeters.word(selection.rung()))
                .highCardinalityKeyValue("model", selection.partition().modelName())
                .highCardinalityKeyValue("routing_group", selection.partition().routingGroup())
                .highCardinalityKeyValue(
                        "worker_id", Long.toUnsignedString(selection.worker().workerId()))
                .highCardinalityKeyValue(
                        "dp_rank", Integer.toUnsignedString(selection.worker().rank()));
    }

    @Override
    public CompletionStage<FreeOutcome> free(Booking booking) {
        return observations.release(() -> pool.free(booking));
    }

    @Override
    public CompletionStage<FreeOutcome> free(String selectionId) {
        return observations.release(() -> pool.free(selectionId));
    }

    @Override
    public CompletionStage<@Nullable Void> prefillComplete(Booking booking) {
        return pool.prefillComplete(booking);
    }

    @Override
    public CompletionStage<ChargeOutcome> chargePrefill(Booking booking) {
        return pool.chargePrefill(booking);
    }

    @Override
    public CompletionStage<@Nullable Void> touch(Booking booking) {
        return pool.touch(booking);
    }

    @Override
    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
        return pool.workerRecord(partition, workerId);
    }

    @Override
    public CompletionStage<Optional<List<RankScore>>> score(SelectRequest request) {
        return pool.score(request);
    }
}

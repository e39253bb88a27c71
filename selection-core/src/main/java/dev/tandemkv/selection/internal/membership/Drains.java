package dev.tandemkv.selection.internal.membership;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.DrainOutcome;
import dev.tandemkv.selection.internal.partition.CoreContext;
import dev.tandemkv.selection.internal.partition.Partition;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waits until draining workers have no booking left. Thread-safe. */
public final class Drains {

    private static final Logger LOG = LoggerFactory.getLogger(Drains.class);

    /** An instant so far ahead still fits the nanoseconds of a ticker. */
    private static final Duration LONGEST = Duration.ofDays(36_525);

    private final CoreContext core;
    private final WorkerRegistry workers;
    private final PartitionRegistry partitions;

    public Drains(CoreContext core, WorkerRegistry workers, PartitionRegistry partitions) {
        this.core = core;
        this.workers = workers;
        this.partitions = partitions;
    }

    /**
     * @throws dev.tandemkv.catalog.BadRequestException if the bound is negative or endless
     * @throws dev.tandemkv.catalog.NotFoundException if there is no such worker
     */
    public CompletionStage<DrainOutcome> drain(long workerId, Duration bound) {
        if (bound.isNegative() || bound.compareTo(LONGEST) > 0) {
            throw new BadRequestException("bound", bound, "0 to " + LONGEST);
        }
        WorkerRecord record = workers.drain(workerId);
        Partition partition = partitions.find(record.spec().partition());
        CompletableFuture<DrainOutcome> outcome = new CompletableFuture<>();
        if (partition == null) {
            outcome.complete(DrainOutcome.DRAINED);
            return outcome.minimalCompletionStage();
        }
        Runnable drained = () -> outcome.complete(DrainOutcome.DRAINED);
        partition.mailbox().submit(() -> partition.drains().when(workerId, drained));
        if (!outcome.isDone()) {
            limit(
                    bound,
                    outcome,
                    () -> partition.mailbox().submit(() -> partition.drains().forget(workerId, drained)));
        }
        return outcome.minimalCompletionStage();
    }

    private void limit(Duration bound, CompletableFuture<DrainOutcome> outcome, Runnable giveUp) {
        try {
            Scheduler.Task late = core.scheduler().schedule(bound, () -> {
                outcome.complete(DrainOutcome.BOUND_PASSED);
                giveUp.run();
            });
            outcome.whenComplete((how, failure) -> late.cancel());
        } catch (RuntimeException refused) {
            LOG.warn("Worker drains without a bound: the scheduler takes no work: {}", refused.toString());
            outcome.complete(DrainOutcome.NOT_TIMED);
            giveUp.run();
        }
    }
}

package dev.tandemkv.selection.internal.membership;

import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.DrainOutcome;
import dev.tandemkv.selection.internal.partition.CoreContext;
import dev.tandemkv.selection.internal.partition.Partition;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Waits until draining workers have no booking left. Thread-safe. */
public final class Drains {

    private final CoreContext core;
    private final WorkerRegistry workers;
    private final PartitionRegistry partitions;

    public Drains(CoreContext core, WorkerRegistry workers, PartitionRegistry partitions) {
        this.core = core;
        this.workers = workers;
        this.partitions = partitions;
    }

    /** @throws dev.tandemkv.catalog.NotFoundException if there is no such worker */
    public CompletionStage<DrainOutcome> drain(long workerId, Duration bound) {
        WorkerRecord record = workers.drain(workerId);
        Partition partition = partitions.find(record.spec().partition());
        CompletableFuture<DrainOutcome> outcome = new CompletableFuture<>();
        if (partition == null) {
            outcome.complete(DrainOutcome.DRAINED);
            return outcome.minimalCompletionStage();
        }
        Scheduler.Task late = core.scheduler().schedule(bound, () -> outcome.complete(DrainOutcome.BOUND_PASSED));
        Runnable drained = () -> {
            late.cancel();
            outcome.complete(DrainOutcome.DRAINED);
        };
        partition.mailbox().submit(() -> partition.whenDrained(workerId, drained));
        return outcome.minimalCompletionStage();
    }
}

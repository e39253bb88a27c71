package dev.tandemkv.catalog;

import dev.tandemkv.catalog.CatalogChanges.Result;
import dev.tandemkv.catalog.CatalogChanges.Results;
import dev.tandemkv.catalog.time.CancellationSignal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A catalog that is only a map: no partitions, no traffic. Fails on demand, and tells what it was asked to do. */
public final class NaiveCatalog implements WorkerCatalog {

    public final Map<Long, WorkerRecord> records = new HashMap<>();
    /** Ids of which every upsert and removal fails. */
    public final Map<Long, SelectionException> failing = new HashMap<>();
    /** Partitions published, one entry for each publication. */
    public final List<PartitionKey> publications = new ArrayList<>();
    /** What happened, for example {@code +1}, {@code -2}, {@code !3}. */
    public final List<String> log = new ArrayList<>();
    /** Runs before each item of a batch. */
    public Runnable beforeItem = () -> {};
    /** Thrown by {@link #apply}, once set. */
    public RuntimeException applyFailure;
    /** {@link #apply} does nothing and answers {@code null}. */
    public boolean answersNothing;

    @Override
    public WorkerRecord upsert(WorkerSpec spec) {
        WorkerRecord record = register(spec);
        publications.add(spec.partition());
        return record;
    }

    private WorkerRecord register(WorkerSpec spec) {
        failIfAsked(spec.workerId());
        WorkerRecord before = records.get(spec.workerId());
        if (before != null && !java.util.Objects.equals(before.spec().incarnation(), spec.incarnation())) {
            log.add("-" + Long.toUnsignedString(spec.workerId()));
        }
        List<String> reasons = new ArrayList<>();
        if (spec.endpoint() == null || spec.endpoint().isEmpty()) {
            reasons.add("endpoint missing");
        }
        if (spec.blockSize() == null || spec.blockSize() == 0) {
            reasons.add("block_size missing or 0");
        }
        if (spec.rankCount() == 0) {
            reasons.add("data_parallel_size 0");
        }
        WorkerRecord record = new WorkerRecord(
                spec, reasons.isEmpty() ? WorkerLifecycle.SCHEDULABLE : WorkerLifecycle.INCOMPLETE, reasons);
        records.put(spec.workerId(), record);
        log.add("+" + Long.toUnsignedString(spec.workerId()));
        return record;
    }

    @Override
    public Results apply(CatalogChanges changes, CancellationSignal cancel) {
        if (applyFailure != null) {
            throw applyFailure;
        }
        if (answersNothing) {
            return null;
        }
        Set<PartitionKey> touched = new HashSet<>();
        List<Result> removals = new ArrayList<>();
        for (long id : changes.removals()) {
            beforeItem.run();
            if (cancel.isCancelled()) {
                break;
            }
            try {
                WorkerRecord removed = take(id);
                touched.add(removed.spec().partition());
                removals.add(new Result(id, removed, null));
            } catch (NotFoundException e) {
                continue;
            } catch (SelectionException e) {
                removals.add(new Result(id, null, e));
            }
        }
        List<Result> upserts = new ArrayList<>();
        for (WorkerSpec spec : changes.upserts()) {
            beforeItem.run();
            if (cancel.isCancelled()) {
                break;
            }
            try {
                upserts.add(new Result(spec.workerId(), register(spec), null));
                touched.add(spec.partition());
            } catch (SelectionException e) {
                upserts.add(new Result(spec.workerId(), null, e));
            }
        }
        publications.addAll(touched);
        return new Results(upserts, removals);
    }

    private WorkerRecord take(long workerId) {
        failIfAsked(workerId);
        WorkerRecord removed = records.remove(workerId);
        if (removed == null) {
            throw new NotFoundException("worker", Long.toUnsignedString(workerId));
        }
        log.add("-" + Long.toUnsignedString(workerId));
        return new WorkerRecord(removed.spec(), WorkerLifecycle.UNSCHEDULABLE, List.of());
    }

    private void failIfAsked(long workerId) {
        SelectionException failure = failing.get(workerId);
        if (failure != null) {
            log.add("!" + Long.toUnsignedString(workerId));
            throw failure;
        }
    }

    @Override
    public WorkerRecord remove(long workerId) {
        WorkerRecord removed = take(workerId);
        publications.add(removed.spec().partition());
        return removed;
    }

    @Override
    public Optional<WorkerRecord> find(long workerId) {
        return Optional.ofNullable(records.get(workerId));
    }

    @Override
    public List<WorkerRecord> list() {
        return records.values().stream()
                .sorted(Comparator.comparing((WorkerRecord r) -> r.spec().partition(), PartitionKey.ORDER)
                        .thenComparing(WorkerRecord::workerId, Long::compareUnsigned))
                .toList();
    }

    public Set<Long> ids() {
        return Set.copyOf(records.keySet());
    }
}

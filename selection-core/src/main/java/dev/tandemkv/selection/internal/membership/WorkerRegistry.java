package dev.tandemkv.selection.internal.membership;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.CatalogChanges;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerLifecycle;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.selection.host.KvEventIngress;
import dev.tandemkv.selection.host.KvIndexSource;
import dev.tandemkv.selection.internal.partition.CoreContext;
import dev.tandemkv.selection.internal.partition.MembershipChange;
import dev.tandemkv.selection.internal.partition.Partition;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Every worker of one core, the incomplete ones too, and how each change reaches its partition.
 *
 * <p>Threads: {@link #lock} makes changes one after the other, ingress calls included; a selection never takes it, and from inside it only
 * partition steps are entered, never the other way round. {@link #records} is written under the lock and read without.
 *
 * <p>Order of a change: what leaves is published first, then its feed and its cache rows go; a feed is there before its worker is
 * published. So nobody is chosen who is not followed, and no row of an old incarnation meets the new one.
 */
public final class WorkerRegistry {

    private static final Logger LOG = LoggerFactory.getLogger(WorkerRegistry.class);
    private static final Comparator<WorkerRecord> ORDER = Comparator.comparing(
                    (WorkerRecord r) -> r.spec().partition(), PartitionKey.ORDER)
            .thenComparing(WorkerRecord::workerId, Long::compareUnsigned);

    private final CoreContext core;
    private final PartitionRegistry partitions;
    private final KvEventIngress ingress;
    private final Requirements requirements;
    private final Consumer<WorkerSpec> onJoin;
    private final ReentrantLock lock = new ReentrantLock();
    private final ConcurrentMap<Long, WorkerRecord> records = new ConcurrentHashMap<>();

    /** @param onJoin told, outside every lock, of each worker that has ranks it did not have before */
    public WorkerRegistry(CoreContext core, PartitionRegistry partitions, Consumer<WorkerSpec> onJoin) {
        this.core = core;
        this.partitions = partitions;
        this.onJoin = onJoin;
        ingress = core.host().index() instanceof KvIndexSource.Owned owned ? owned.ingress() : KvEventIngress.NONE;
        requirements = new Requirements(core, ingress);
    }

    // ---- reading

    public Optional<WorkerRecord> find(long workerId) {
        return Optional.ofNullable(records.get(workerId));
    }

    /** All of them, by model, group and worker id. */
    public List<WorkerRecord> list() {
        return records.values().stream().sorted(ORDER).toList();
    }

    public int schedulable() {
        return (int)
                records.values().stream().filter(WorkerRecord::isSchedulable).count();
    }

    // ---- changing

    public WorkerRecord upsert(WorkerSpec spec) {
        return recordOf(apply(List.of(spec), Set.of(), CancellationSignal.never()));
    }

    public WorkerRecord remove(long workerId) {
        List<CatalogChanges.Result> removed =
                apply(List.of(), Set.of(workerId), CancellationSignal.never()).removals();
        if (removed.isEmpty() || removed.get(0).record() == null) {
            throw new NotFoundException("worker", Long.toUnsignedString(workerId));
        }
        return removed.get(0).record();
    }

    /** Changes some metadata of a worker; retried where somebody else changed it meanwhile. */
    public WorkerRecord patch(long workerId, UnaryOperator<WorkerSpec.Builder> change) {
        while (true) {
            WorkerRecord present = records.get(workerId);
            if (present == null) {
                throw new NotFoundException("worker", Long.toUnsignedString(workerId));
            }
            WorkerSpec before = present.spec();
            WorkerSpec after = change.apply(before.toBuilder()).build();
            if (after.workerId() != workerId || !after.partition().equals(before.partition())) {
                throw new BadRequestException(
                        "partition",
                        after.partition(),
                        "worker id, model and group as registered: " + before.partition());
            }
            WorkerRecord changed = upsertIfStill(before, after);
            if (changed != null) {
                return changed;
            }
        }
    }

    private @Nullable WorkerRecord upsertIfStill(WorkerSpec before, WorkerSpec after) {
        Batch batch = new Batch();
        try {
            return locked(() -> {
                WorkerRecord present = records.get(after.workerId());
                return present == null || !present.spec().equals(before)
                        ? null
                        : recordOf(batch.apply(List.of(after), Set.of(), CancellationSignal.never()));
            });
        } finally {
            batch.tell();
        }
    }

    /** Runs under the lock what may change a partition; the completions that this causes run once the lock is free. */
    private <T extends @Nullable Object> T locked(Supplier<T> change) {
        return core.afterwards().deferring(() -> {
            lock.lock();
            try {
                return change.get();
            } finally {
                lock.unlock();
            }
        });
    }

    private static WorkerRecord recordOf(CatalogChanges.Results results) {
        CatalogChanges.Result only = results.upserts().get(0);
        if (only.record() == null) {
            throw only.failure() == null ? new IllegalStateException("neither record nor failure") : only.failure();
        }
        return only.record();
    }

    /** Removals first, then the registrations in order; one publication per partition that is touched, moves apart. */
    public CatalogChanges.Results apply(List<WorkerSpec> upserts, Set<Long> removals, CancellationSignal cancel) {
        Batch batch = new Batch();
        try {
            return locked(() -> batch.apply(upserts, removals, cancel));
        } finally {
            batch.tell();
        }
    }

    /** Marks a worker draining: no new bookings, those it has stay. */
    public WorkerRecord drain(long workerId) {
        return locked(() -> {
            WorkerRecord record = records.get(workerId);
            if (record == null) {
                throw new NotFoundException("worker", Long.toUnsignedString(workerId));
            }
            if (!record.isSchedulable()) {
                return record;
            }
            WorkerRecord draining = new WorkerRecord(record.spec(), WorkerLifecycle.DRAINING, List.of());
            records.put(workerId, draining);
            Partition partition = partitions.find(record.spec().partition());
            if (partition != null) {
                partition.change(MembershipChange.drain(workerId));
            }
            return draining;
        });
    }

    /** The changes of one call, collected under the lock and published at its end. */
    private final class Batch {
        private final Map<Partition, MembershipChange.Builder> changes = new LinkedHashMap<>();
        private final Map<Long, WorkerSpec> removed = new LinkedHashMap<>();
        private final Set<Long> replaced = new HashSet<>();
        private final Map<Long, WorkerLifecycle> states = new LinkedHashMap<>();
        private final List<WorkerSpec> joined = new ArrayList<>();

        CatalogChanges.Results apply(List<WorkerSpec> upserts, Set<Long> removals, CancellationSignal cancel) {
            List<CatalogChanges.Result> gone = new ArrayList<>();
            for (Long id : removals) {
                if (!cancel.isCancelled() && records.containsKey(id)) {
                    gone.add(new CatalogChanges.Result(id, remove(id), null));
                }
            }
            List<CatalogChanges.Result> upserted = new ArrayList<>();
            for (WorkerSpec spec : upserts) {
                if (!cancel.isCancelled()) {
                    upserted.add(tryUpsert(spec));
                }
            }
            publish();
            return new CatalogChanges.Results(upserted, gone);
        }

        /** Tells the observers, outside the lock. */
        void tell() {
            states.forEach(core.observer()::onWorker);
            joined.forEach(onJoin);
        }

        WorkerRecord remove(long workerId) {
            WorkerRecord former = records.remove(workerId);
            if (former == null) {
                throw new NotFoundException("worker", Long.toUnsignedString(workerId));
            }
            Partition from = partitionOf(former);
            if (from != null) {
                changeOf(from).remove(workerId);
                removed.put(workerId, former.spec());
            }
            states.put(workerId, WorkerLifecycle.UNSCHEDULABLE);
            return new WorkerRecord(former.spec(), WorkerLifecycle.UNSCHEDULABLE, List.of());
        }

        CatalogChanges.Result tryUpsert(WorkerSpec spec) {
            try {
                return new CatalogChanges.Result(spec.workerId(), upsert(spec), null);
            } catch (SelectionException e) {
                return new CatalogChanges.Result(spec.workerId(), null, e);
            }
        }

        private WorkerRecord upsert(WorkerSpec spec) {
            requirements.requirePossible(spec);
            List<String> reasons = new ArrayList<>(requirements.missing(spec));
            Partition target = reasons.isEmpty() ? enter(spec, reasons) : null;
            WorkerRecord former = records.get(spec.workerId());
            Partition from = former == null ? null : partitionOf(former);
            WorkerRecord kept = null;
            if (former != null && from != null) {
                if (from != target) {
                    leave(from, former.spec());
                } else if (isNewIncarnation(former.spec(), spec)) {
                    replace(from, former.spec());
                } else {
                    kept = former;
                }
            }
            if (target != null) {
                follow(kept == null ? null : kept.spec(), spec, reasons, target);
            }
            WorkerRecord record = new WorkerRecord(spec, stateOf(reasons, kept), reasons);
            records.put(spec.workerId(), record);
            if (target != null && reasons.isEmpty()) {
                changeOf(target).put(spec);
                if (kept == null || kept.spec().rankCount() != spec.rankCount()) {
                    joined.add(spec);
                }
            }
            states.put(spec.workerId(), record.lifecycle());
            return record;
        }

        private @Nullable Partition enter(WorkerSpec spec, List<String> reasons) {
            try {
                int blockSize = spec.blockSize() == null ? 0 : spec.blockSize();
                return partitions.ensure(spec.partition(), blockSize, spec.eagle());
            } catch (RuntimeException e) {
                // A policy or an ingress that cannot serve the partition keeps its workers out, and is tried again with
                // the next one.
                reasons.add("reconciliation failed: " + e.getMessage());
                return null;
            }
        }

        private void follow(@Nullable WorkerSpec previous, WorkerSpec spec, List<String> reasons, Partition target) {
            try {
                ingress.reconcile(previous, spec);
            } catch (RuntimeException e) {
                LOG.warn("worker {} cannot be followed", Long.toUnsignedString(spec.workerId()), e);
                reasons.add("reconciliation failed: " + e.getMessage());
                if (previous != null) {
                    leave(target, previous);
                }
            }
        }

        /** Another process under the same id: it takes the place of the former one in one step, and finds nothing of it. */
        private void replace(Partition in, WorkerSpec former) {
            afterLeaving(in, former);
            changeOf(in).remove(former.workerId());
            replaced.add(former.workerId());
        }

        private void leave(Partition from, WorkerSpec former) {
            from.change(MembershipChange.remove(former.workerId()));
            afterLeaving(from, former);
        }

        private MembershipChange.Builder changeOf(Partition partition) {
            return changes.computeIfAbsent(partition, p -> new MembershipChange.Builder());
        }

        void publish() {
            changes.forEach((partition, change) -> {
                for (WorkerRank rank : partition.change(change.build())) {
                    if (!removed.containsKey(rank.workerId()) && !replaced.contains(rank.workerId())) {
                        partition.cache().forget(rank);
                        endSessions(partition, rank::equals);
                    }
                }
            });
            removed.forEach((id, spec) -> {
                Partition from = partitions.find(spec.partition());
                if (from != null) {
                    afterLeaving(from, spec);
                }
            });
        }
    }

    private static boolean isNewIncarnation(WorkerSpec former, WorkerSpec spec) {
        return former.incarnation() != null
                && spec.incarnation() != null
                && !former.incarnation().equals(spec.incarnation());
    }

    private static WorkerLifecycle stateOf(List<String> reasons, @Nullable WorkerRecord former) {
        if (!reasons.isEmpty()) {
            return WorkerLifecycle.INCOMPLETE;
        }
        // A draining worker stays so, whatever else is said of it; a new incarnation starts afresh.
        boolean draining = former != null && former.lifecycle() == WorkerLifecycle.DRAINING;
        return draining ? WorkerLifecycle.DRAINING : WorkerLifecycle.SCHEDULABLE;
    }

    /** The partition that a registered worker has rows in, or {@code null}. */
    private @Nullable Partition partitionOf(WorkerRecord record) {
        boolean placed = record.isSchedulable() || record.lifecycle() == WorkerLifecycle.DRAINING;
        return placed ? partitions.find(record.spec().partition()) : null;
    }

    private void afterLeaving(Partition from, WorkerSpec former) {
        try {
            ingress.detach(former);
        } catch (RuntimeException e) {
            // The worker has left whatever the ingress says; its rows and sessions go all the same.
            LOG.warn("worker {} is still followed", Long.toUnsignedString(former.workerId()), e);
        }
        from.cache().forget(former.workerId());
        endSessions(from, rank -> rank.workerId() == former.workerId());
    }

    /** Ends the bindings to what left: a whole worker, or one rank of it. */
    private static void endSessions(Partition in, Predicate<WorkerRank> left) {
        if (in.sessions() != null) {
            in.sessions()
                    .removeTargets(target -> left.test(
                            new WorkerRank(target.workerId(), target.dpRank() == null ? -1 : target.dpRank())));
        }
    }
}

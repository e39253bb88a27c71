package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.ExceedsCapacityException;
import dev.tandemkv.selection.ExclusionReason;
import dev.tandemkv.selection.NoEligibleWorkerException;
import dev.tandemkv.selection.OverloadedException;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.host.OverloadedWorkers;
import dev.tandemkv.selection.host.SelectionHost;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Which rows a request may use: the same code for the queue's gate, the selection and the check of a pin. Confined to the partition step;
 * the buffer of rows is reused from request to request.
 *
 * <p>The order of the checks is that of {@link ExclusionReason}. Capacity is judged among the rows that pass everything but the overload
 * check: a prompt that is too large for all of them is refused at once, whoever is overloaded.
 */
final class Eligibility {

    private final PartitionKey key;
    private final Roster roster;
    private final SelectionHost host;

    /** What the last collection found: {@link #buffer}, or the roster's own order where that is everybody. */
    private int[] rows = {};

    private int[] buffer = new int[16];
    private int count;
    private boolean everybody;

    // What the last collection excluded although it was otherwise eligible.
    private int overloaded;
    private int tooSmall;
    private long largest;

    Eligibility(PartitionKey key, Roster roster, SelectionHost host) {
        this.key = key;
        this.roster = roster;
        this.host = host;
    }

    /** Rows found by the last {@link #collect}, by unsigned worker id and rank. Not to be changed. */
    int[] rows() {
        return rows;
    }

    int count() {
        return count;
    }

    /** Whether the last collection took every row there is, unasked. */
    boolean isEverybody() {
        return everybody;
    }

    /** How many rows only overload excluded. */
    int overloaded() {
        return overloaded;
    }

    /** Finds the rows that the attempt may use. */
    void collect(Attempt attempt) {
        count = 0;
        everybody = false;
        rows = buffer;
        overloaded = 0;
        tooSmall = 0;
        largest = 0;
        Set<Long> available = available(attempt.request());
        attempt.available(available);
        WorkerRank pin = attempt.request().pinnedWorker();
        if (pin != null) {
            int row = roster.rowOf(pin);
            if (row >= 0) {
                consider(row, attempt, available);
            }
            return;
        }
        if (isUnconstrained(attempt, available)) {
            collectAll();
            return;
        }
        int[] order = roster.order();
        if (buffer.length < order.length) {
            buffer = new int[Math.max(order.length, buffer.length * 2)];
            rows = buffer;
        }
        for (int row : order) {
            consider(row, attempt, available);
        }
    }

    /** Takes every row, for readings that ask nobody's leave. */
    void collectAll() {
        everybody = true;
        rows = roster.order();
        count = rows.length;
    }

    private void consider(int row, Attempt attempt, @Nullable Set<Long> available) {
        ExclusionReason reason = reason(row, attempt, available);
        if (reason == null) {
            buffer[count++] = row;
        } else if (reason == ExclusionReason.OVERLOADED) {
            overloaded++;
        } else if (reason == ExclusionReason.CAPACITY) {
            tooSmall++;
            largest = Math.max(largest, roster.kvBlocks(row));
        }
    }

    private @Nullable Set<Long> available(SelectRequest request) {
        return host.availableWorkers() == null ? null : host.availableWorkers().availableTo(request);
    }

    private boolean isUnconstrained(Attempt attempt, @Nullable Set<Long> available) {
        SelectRequest request = attempt.request();
        return attempt.allowed() == null
                && available == null
                && host.overloadedWorkers() == null
                && attempt.required() == null
                && request.excludedWorkerIds().isEmpty()
                && request.constraints().requiredTaints().isEmpty()
                && roster.leastKvBlocks() >= attempt.prompt().requestBlocks()
                && !roster.anyDraining();
    }

    /** Why a row is no candidate, or {@code null} if it is one; whatever the request is pinned to. */
    @Nullable
    ExclusionReason reason(int row, Attempt attempt, @Nullable Set<Long> available) {
        SelectRequest request = attempt.request();
        Long worker = roster.workerId(row);
        if ((attempt.allowed() != null && !attempt.allowed().contains(worker))
                || request.excludedWorkerIds().contains(worker)
                || (attempt.required() != null && !matches(row, attempt.required()))) {
            return ExclusionReason.NOT_ALLOWED;
        }
        if (available != null && !available.contains(worker)) {
            return ExclusionReason.UNAVAILABLE;
        }
        if (roster.draining(row)) {
            return ExclusionReason.RANK_UNAVAILABLE;
        }
        if (!carriesAll(roster.spec(row), request.constraints().requiredTaints())) {
            return ExclusionReason.CONSTRAINTS_UNSATISFIED;
        }
        long blocks = roster.kvBlocks(row);
        if (blocks != Roster.UNKNOWN_BLOCKS && blocks < attempt.prompt().requestBlocks()) {
            return ExclusionReason.CAPACITY;
        }
        OverloadedWorkers overload = host.overloadedWorkers();
        return overload != null && overload.isOverloaded(key, roster.rank(row)) ? ExclusionReason.OVERLOADED : null;
    }

    private boolean matches(int row, AffinityTarget target) {
        WorkerRank rank = roster.rank(row);
        return rank.workerId() == target.workerId() && (target.dpRank() == null || target.dpRank() == rank.rank());
    }

    /** Whether any row that a target names is a candidate by itself. */
    boolean isEligible(AffinityTarget target, Attempt attempt) {
        return reasonOf(target, attempt) == null;
    }

    /** Why no row that a target names is a candidate; overload only if nothing else stands in the way of one of them. */
    @Nullable
    ExclusionReason reasonOf(AffinityTarget target, Attempt attempt) {
        Set<Long> available = available(attempt.request());
        ExclusionReason weakest = ExclusionReason.RANK_UNAVAILABLE;
        for (int row : roster.order()) {
            if (matches(row, target)) {
                ExclusionReason reason = reason(row, attempt, available);
                if (reason == null) {
                    return null;
                }
                if (reason == ExclusionReason.OVERLOADED) {
                    weakest = reason;
                }
            }
        }
        return weakest;
    }

    /** What to answer where the last collection found nothing. */
    SelectionException nothingFound(Attempt attempt) {
        WorkerRank pin = attempt.request().pinnedWorker();
        if (overloaded > 0) {
            return pin != null ? OverloadedException.pinned(pin) : OverloadedException.all(key, overloaded);
        }
        if (tooSmall > 0) {
            return new ExceedsCapacityException(attempt.prompt().requestBlocks(), largest);
        }
        return new NoEligibleWorkerException(key, counts(attempt));
    }

    private Map<ExclusionReason, Integer> counts(Attempt attempt) {
        Map<ExclusionReason, Integer> counts = new EnumMap<>(ExclusionReason.class);
        eachExcluded(attempt, (rank, reason) -> counts.merge(reason, 1, Integer::sum));
        return counts;
    }

    /** Tells every rank that is no candidate, with the first reason; a pin to a rank that does not exist too. */
    void eachExcluded(Attempt attempt, BiConsumer<WorkerRank, ExclusionReason> told) {
        WorkerRank pin = attempt.request().pinnedWorker();
        if (pin != null && roster.rowOf(pin) < 0) {
            told.accept(pin, ExclusionReason.RANK_UNAVAILABLE);
        }
        for (int row : roster.order()) {
            ExclusionReason reason = pin != null && !pin.equals(roster.rank(row))
                    ? ExclusionReason.NOT_ALLOWED
                    : reason(row, attempt, attempt.available());
            if (reason != null) {
                told.accept(roster.rank(row), reason);
            }
        }
    }

    private static boolean carriesAll(WorkerSpec spec, Set<String> taints) {
        for (String taint : taints) {
            if (!spec.carries(taint)) {
                return false;
            }
        }
        return true;
    }
}

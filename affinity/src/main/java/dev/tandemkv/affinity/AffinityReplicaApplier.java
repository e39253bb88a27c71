package dev.tandemkv.affinity;

import java.time.Duration;
import java.util.function.Predicate;

/**
 * Applies to one table what its replicas publish, in the order of checks that keeps a stray record harmless. Stateless beside the table;
 * thread-safe.
 */
public final class AffinityReplicaApplier {

    private final SessionAffinity table;
    private final Predicate<AffinityTarget> isLive;

    /** @param isLive whether a target exists here; asked outside every lock */
    public AffinityReplicaApplier(SessionAffinity table, Predicate<AffinityTarget> isLive) {
        this.table = table;
        this.isLive = isLive;
    }

    /** Applies one record, which is a use of its session. Never throws for what a record contains. */
    public ReplicaApplyOutcome apply(AffinityReplicaRecord record) {
        return apply(record, table.config().ttl());
    }

    /** Applies one reminder: the binding lives on as long as it does at the teller, at least. */
    public ReplicaApplyOutcome apply(AffinityReminder reminder) {
        return apply(reminder.record(), reminder.remaining());
    }

    private ReplicaApplyOutcome apply(AffinityReplicaRecord record, Duration life) {
        ReplicaApplyOutcome outcome = check(record, life);
        table.tally().applied(outcome);
        return outcome;
    }

    private ReplicaApplyOutcome check(AffinityReplicaRecord record, Duration life) {
        if (table.origin() != 0 && record.origin() == table.origin()) {
            return ReplicaApplyOutcome.IGNORED_SELF;
        }
        if (!record.partition().equals(table.partition())) {
            return ReplicaApplyOutcome.IGNORED_PARTITION;
        }
        if (table.versions().isBeyondSkew(record.version())) {
            return ReplicaApplyOutcome.REJECTED_SKEW;
        }
        // Even if the record is dropped below: what is bound here next must be newer than what was seen.
        table.versions().observe(record.version());
        AffinityTarget target = record.target();
        if (target != null && !isLive.test(target)) {
            return ReplicaApplyOutcome.IGNORED_TARGET;
        }
        return table.apply(record, life);
    }
}

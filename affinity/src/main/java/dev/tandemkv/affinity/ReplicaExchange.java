package dev.tandemkv.affinity;

import dev.tandemkv.affinity.internal.BindingTable;
import dev.tandemkv.affinity.internal.Effects;
import dev.tandemkv.affinity.internal.ReplicaRows;
import dev.tandemkv.affinity.internal.Tombstones;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * What a table takes from other replicas, and what it has to tell them: records applied, a joiner's snapshot, leased bindings announced
 * again. Thread-safe, as the parts are.
 */
final class ReplicaExchange {

    private final PartitionKey partition;
    private final AffinityConfig config;
    private final Ticker ticker;
    private final BindingTable bindings;
    private final ReplicaRows replicaRows;
    private final Tombstones tombstones;
    private final Replication replication;
    private final Tally tally;

    ReplicaExchange(
            PartitionKey partition,
            AffinityConfig config,
            Ticker ticker,
            BindingTable bindings,
            ReplicaRows replicaRows,
            Tombstones tombstones,
            Replication replication,
            Tally tally) {
        this.partition = partition;
        this.config = config;
        this.ticker = ticker;
        this.bindings = bindings;
        this.replicaRows = replicaRows;
        this.tombstones = tombstones;
        this.replication = replication;
        this.tally = tally;
    }

    /** @param life how long a binding lives on by it; more than the TTL is the TTL */
    ReplicaApplyOutcome apply(AffinityReplicaRecord record, Duration life) {
        if (SessionAffinity.utf8Length(record.sessionId()) > config.maxSessionIdBytes()) {
            return ReplicaApplyOutcome.REJECTED_SESSION_ID;
        }
        AffinityTarget target = record.target();
        if (target == null) {
            return replicaRows.applyTombstone(record.sessionId(), record.version());
        }
        Effects effects = new Effects();
        long nanos = Math.min(Scheduler.saturatedNanos(life), config.ttl().toNanos());
        ReplicaApplyOutcome outcome =
                replicaRows.applyBinding(record.sessionId(), target, record.version(), nanos, effects);
        if (effects.isDuplicate()) {
            tally.duplicate();
        }
        return outcome;
    }

    /** Live bindings, then tombstones. */
    List<AffinityReminder> snapshot(int limit) {
        List<AffinityReminder> all = bindingsTo(target -> true);
        long origin = replication.origin();
        tombstones.forEach((sessionId, version) -> all.add(new AffinityReminder(
                new AffinityReplicaRecord(partition, sessionId, null, version, origin), Duration.ZERO)));
        return List.copyOf(all.subList(0, Math.min(limit, all.size())));
    }

    /** @param to asked outside every lock */
    List<AffinityReminder> snapshot(int limit, Predicate<AffinityTarget> to) {
        List<AffinityReminder> some = bindingsTo(to);
        return List.copyOf(some.subList(0, Math.min(limit, some.size())));
    }

    private List<AffinityReminder> bindingsTo(Predicate<AffinityTarget> to) {
        List<AffinityReminder> reminders = new ArrayList<>();
        long origin = replication.origin();
        long now = ticker.read();
        bindings.forEachBinding((sessionId, binding) -> {
            if (to.test(binding.target())) {
                reminders.add(new AffinityReminder(
                        new AffinityReplicaRecord(partition, sessionId, binding.target(), binding.version(), origin),
                        binding.activeLeases() > 0
                                ? config.ttl()
                                : Duration.ofNanos(Math.max(0, binding.idleDeadline() - now))));
            }
        });
        return reminders;
    }

    /** Announces leased bindings again that have been quiet for a while. */
    void refreshLeased(long quietNanos, BiConsumer<String, Effects> perform) {
        replicaRows.refreshLeased(quietNanos, perform);
    }
}

package dev.tandemkv.adapters.micrometer;

import static dev.tandemkv.adapters.micrometer.PartitionMeters.word;

import dev.tandemkv.adapters.micrometer.SampledMeters.Samples;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerLifecycle;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.indexer.health.SignalAlarm;
import dev.tandemkv.selection.CacheSignal;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.PartitionLoads.ClassLoad;
import dev.tandemkv.selection.QueueRejectedException.Limit;
import dev.tandemkv.selection.QueueRejectedException.Pending;
import dev.tandemkv.selection.RankLoad;
import dev.tandemkv.selection.ReplicaStats;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.SelectionStats;
import dev.tandemkv.selection.explain.Regret;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Reads what a core holds: workers, load, queues, sessions, indexes, and the counts that no observer is told. */
final class CoreReading implements SampledMeters.Source {

    private final SelectionCore core;
    private final SelectionEvents events;
    private final String routerId;

    CoreReading(SelectionCore core, SelectionEvents events, String routerId) {
        this.core = core;
        this.events = events;
        this.routerId = routerId;
    }

    @Override
    public void read(Samples into) {
        workers(into);
        core.loads().forEach(partition -> partition(into, partition));
        SelectionStats stats = core.stats();
        into.add(Metric.RESERVATIONS, stats.reservations());
        into.add(Metric.PENDING_SELECTIONS, stats.pendingSelections());
        into.add(Metric.SUB_BLOCK_PROMPTS, stats.subBlock());
        into.add(Metric.SETTINGS_WITHOUT_EFFECT, core.config().withoutEffect().size());
        into.add(Metric.SHARED_CACHE_ERRORS, stats.sharedCacheErrors(), routerId);
        core.replicaStats().ifPresent(replicas -> replicas(into, replicas));
    }

    private void workers(Samples into) {
        Map<WorkerLifecycle, Integer> counts = new EnumMap<>(WorkerLifecycle.class);
        for (WorkerRecord worker : core.list()) {
            counts.merge(worker.lifecycle(), 1, Integer::sum);
        }
        for (WorkerLifecycle lifecycle : WorkerLifecycle.values()) {
            if (lifecycle != WorkerLifecycle.UNSCHEDULABLE) {
                into.add(Metric.WORKERS, counts.getOrDefault(lifecycle, 0), word(lifecycle));
            }
        }
        into.add(Metric.READY, core.ready().ready() ? 1 : 0);
    }

    private void partition(Samples into, PartitionLoads loads) {
        PartitionKey key = loads.partition();
        PartitionMeters counted = events.of(key);
        List<String> tags = PartitionMeters.tags(key, core.role(key));
        String type = tags.get(2);
        for (RankLoad load : loads.loads()) {
            WorkerRank rank = load.worker();
            String id = id(rank);
            String dpRank = dpRank(rank);
            into.add(Metric.WORKER_REGISTERED, 1, id, dpRank, type);
            into.add(Metric.WORKER_ACTIVE_DECODE_BLOCKS, load.potentialDecodeBlocks(), id, dpRank, type);
            into.add(Metric.WORKER_ACTIVE_PREFILL_TOKENS, load.potentialPrefillTokens(), id, dpRank, type);
            into.add(Metric.WORKER_ACTIVE_REQUESTS, load.activeRequests(), id, dpRank, type);
        }
        for (ClassLoad queue : loads.queues()) {
            queue(into, tags, queue);
            for (Limit limit : Limit.values()) {
                counted.refused(queue.policyClass(), limit);
            }
        }
        core.cacheSignal(key).ifPresent(signal -> signal(into, tags, signal));
        core.regret(key).ifPresent(regret -> regret(into, tags, regret));
        core.sessionStats(key).ifPresent(stats -> AffinityReading.read(into, key, stats));
        core.assumptionStats(key).ifPresent(stats -> OverlayReading.read(into, key, stats));
        IndexReading.read(into, key, core.index(key).stats());
    }

    private static void signal(Samples into, List<String> tags, CacheSignal signal) {
        for (LadderRung rung : LadderRung.values()) {
            into.add(
                    Metric.CACHE_RUNG,
                    rung == signal.rung() ? 1 : 0,
                    tags.get(0),
                    tags.get(1),
                    tags.get(2),
                    word(rung));
        }
        for (SignalAlarm alarm : SignalAlarm.values()) {
            into.add(
                    Metric.CACHE_ALARM,
                    signal.alarms().contains(alarm) ? 1 : 0,
                    tags.get(0),
                    tags.get(1),
                    tags.get(2),
                    word(alarm));
        }
        for (WorkerRank rank : signal.ranksBelow()) {
            into.add(Metric.CACHE_RANK_BELOW, 1, id(rank), dpRank(rank), tags.get(2));
        }
    }

    private static String id(WorkerRank rank) {
        return Long.toUnsignedString(rank.workerId());
    }

    private static String dpRank(WorkerRank rank) {
        return Integer.toUnsignedString(rank.rank());
    }

    private static void queue(Samples into, List<String> tags, ClassLoad queue) {
        Pending pending = queue.pending();
        String[] of = {tags.get(0), tags.get(1), tags.get(2), queue.policyClass()};
        into.add(Metric.QUEUE_PENDING_REQUESTS, pending.requests(), of);
        into.add(Metric.QUEUE_PENDING_ISL_TOKENS, pending.islTokens(), of);
        into.add(Metric.QUEUE_PENDING_CACHED_TOKENS, pending.cachedTokens(), of);
    }

    private static void regret(Samples into, List<String> tags, Regret.Snapshot regret) {
        String[] of = tags.toArray(String[]::new);
        into.add(Metric.REGRET_DECISIONS, regret.decisions(), of);
        into.add(Metric.REGRET_CHOSEN_BLOCKS, regret.chosenOverlapBlocks(), of);
        into.add(Metric.REGRET_BEST_BLOCKS, regret.bestOverlapBlocks(), of);
    }

    private static void replicas(Samples into, ReplicaStats stats) {
        into.add(Metric.REPLICA_MESSAGES, stats.published(), "published");
        into.add(Metric.REPLICA_MESSAGES, stats.outboundDropped(), "outbound_dropped");
        into.add(Metric.REPLICA_MESSAGES, stats.applied(), "applied");
        into.add(Metric.REPLICA_MESSAGES, stats.malformed(), "malformed");
        into.add(Metric.REPLICA_MESSAGES, stats.self(), "self");
        into.add(Metric.REPLICA_MESSAGES, stats.unknown(), "unknown");
        into.add(Metric.REPLICA_MESSAGES, stats.ignored(), "ignored");
    }
}

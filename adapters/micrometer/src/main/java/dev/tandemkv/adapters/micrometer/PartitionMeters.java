package dev.tandemkv.adapters.micrometer;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.indexer.health.SignalAlarm;
import dev.tandemkv.selection.EndReason;
import dev.tandemkv.selection.QueueRejectedException.Limit;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What is counted for one partition as it happens. All series exist from the start, at 0, so that a first failure shows as an increase. */
final class PartitionMeters {

    final Counter degraded;
    final Counter queued;
    final Timer wait;
    final Counter promptTokens;
    final Counter cachedTokens;
    final Counter nonMaxOverlap;
    final Counter nonMaxOverlapBlocks;
    final Counter unpinned;
    final Counter booked;
    final Counter leaked;
    private final Map<LadderRung, Counter> rungs = new EnumMap<>(LadderRung.class);
    private final Map<SelectionException.Kind, Counter> failures = new EnumMap<>(SelectionException.Kind.class);
    private final Map<SignalAlarm, Counter> alarms = new EnumMap<>(SignalAlarm.class);
    private final Map<EndReason, Counter> ended = new EnumMap<>(EndReason.class);

    private final Map<Refusal, Counter> refused = new ConcurrentHashMap<>();
    private final Meters meters;
    private final List<String> tags;

    private record Refusal(String policyClass, Limit limit) {}

    /** @param tags see {@link #tags(PartitionKey, Role)} */
    PartitionMeters(Meters meters, List<String> tags) {
        this.meters = meters;
        this.tags = tags;
        String model = tags.get(0);
        String group = tags.get(1);
        String type = tags.get(2);
        degraded = meters.counter(Metric.SELECTIONS_DEGRADED, model, group, type);
        queued = meters.counter(Metric.SELECTIONS_QUEUED, model, group, type);
        wait = meters.timer(Metric.SELECTION_WAIT, model, group, type);
        promptTokens = meters.counter(Metric.PROMPT_TOKENS, model, group, type);
        cachedTokens = meters.counter(Metric.CACHED_TOKENS, model, group, type);
        nonMaxOverlap = meters.counter(Metric.NON_MAX_OVERLAP, model, group, type);
        nonMaxOverlapBlocks = meters.counter(Metric.NON_MAX_OVERLAP_BLOCKS, model, group, type);
        unpinned = meters.counter(Metric.SESSIONS_UNPINNED, model, group, type);
        booked = meters.counter(Metric.BOOKINGS, model, group, type);
        leaked = meters.counter(Metric.BOOKING_LEAKS, model, group, type);
        for (LadderRung rung : LadderRung.values()) {
            rungs.put(rung, meters.counter(Metric.SELECTIONS, model, group, type, word(rung)));
        }
        for (SelectionException.Kind kind : SelectionException.Kind.values()) {
            failures.put(kind, meters.counter(Metric.SELECTION_FAILURES, model, group, type, word(kind)));
        }
        for (SignalAlarm alarm : SignalAlarm.values()) {
            alarms.put(alarm, meters.counter(Metric.CACHE_ALARMS_RAISED, model, group, type, word(alarm)));
        }
        for (EndReason reason : EndReason.values()) {
            ended.put(reason, meters.counter(Metric.BOOKINGS_ENDED, model, group, type, word(reason)));
        }
    }

    /** The tag values of a partition: its model, its group and what its workers do. */
    static List<String> tags(PartitionKey partition, Role role) {
        return List.of(partition.modelName(), partition.routingGroup(), role.wireName());
    }

    /** How a constant is written in a tag. */
    static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    Counter decided(LadderRung rung) {
        return of(rungs, rung);
    }

    Counter failed(SelectionException.Kind kind) {
        return of(failures, kind);
    }

    Counter raised(SignalAlarm alarm) {
        return of(alarms, alarm);
    }

    Counter ended(EndReason reason) {
        return of(ended, reason);
    }

    /** Requests that a class of this partition's queue refused. */
    Counter refused(String policyClass, Limit limit) {
        return refused.computeIfAbsent(
                new Refusal(policyClass, limit),
                of -> meters.counter(
                        Metric.QUEUE_BACKPRESSURE, tags.get(0), tags.get(1), tags.get(2), policyClass, reason(limit)));
    }

    private static String reason(Limit limit) {
        return switch (limit) {
            case REQUESTS -> "request_limit";
            case RAW_ISL_TOKENS -> "raw_isl_token_limit";
            case CACHED_TOKENS -> "cached_token_limit";
            case DO_NOT_QUEUE -> "do_not_queue";
        };
    }

    private static <K extends Enum<K>> Counter of(Map<K, Counter> counters, K key) {
        Counter counter = counters.get(key);
        if (counter == null) {
            throw new IllegalStateException(key + " has no counter");
        }
        return counter;
    }
}

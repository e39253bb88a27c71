package dev.tandemkv.selection;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.indexer.health.SignalAlarm;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * How far the knowledge of one partition's caches is believed at one moment. Immutable.
 *
 * @param rung what a lookup rests on now
 * @param alarms what is wrong with the signal as a whole
 * @param ranksBelow ranks of which less is believed, by unsigned worker id and rank
 */
public record CacheSignal(LadderRung rung, Set<SignalAlarm> alarms, List<WorkerRank> ranksBelow) {

    public CacheSignal {
        Objects.requireNonNull(rung, "rung");
        alarms = Set.copyOf(alarms);
        ranksBelow = List.copyOf(ranksBelow);
    }
}

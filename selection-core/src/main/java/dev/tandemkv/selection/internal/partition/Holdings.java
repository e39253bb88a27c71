package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.selection.host.RemoteIndex.Match;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What each row holds of one attempt's prompt, whether this process or another one knows it. Confined to the partition step. */
final class Holdings {

    private final Roster roster;
    private @Nullable OverlapScores scores;
    private Map<WorkerRank, Match> remote = Map.of();

    Holdings(Roster roster) {
        this.roster = roster;
    }

    void of(Attempt attempt) {
        scores = attempt.scores();
        remote = attempt.remote();
    }

    /** Whether anybody may hold anything. */
    boolean known() {
        return scores != null || !remote.isEmpty();
    }

    int device(int row) {
        int own = scores == null ? 0 : scores.blocks(roster.slot(row));
        Match match = remote.isEmpty() ? null : remote.get(roster.rank(row));
        return match == null ? own : Math.max(own, match.device());
    }

    /** Blocks in host memory that continue the device's. */
    int host(int row) {
        if (remote.isEmpty()) {
            return scores == null ? 0 : scores.blocks(roster.slot(row), Tier.HOST_PINNED);
        }
        Match match = remote.get(roster.rank(row));
        return match == null ? 0 : match.hostExtension();
    }

    /** Blocks on disk or in an external store that continue those. */
    int disk(int row) {
        if (remote.isEmpty()) {
            return scores == null
                    ? 0
                    : scores.blocks(roster.slot(row), Tier.DISK) + scores.blocks(roster.slot(row), Tier.EXTERNAL);
        }
        Match match = remote.get(roster.rank(row));
        return match == null ? 0 : match.diskExtension();
    }
}

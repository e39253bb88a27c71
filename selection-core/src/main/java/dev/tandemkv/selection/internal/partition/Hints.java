package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.selection.KvHint;
import org.jspecify.annotations.Nullable;

/** Finds where a chosen rank can fetch what it lacks of a prompt. Confined to the partition step. */
final class Hints {

    private final Roster roster;

    Hints(Roster roster) {
        this.roster = roster;
    }

    /** Whether a worker names an endpoint that others can fetch from. */
    static boolean isSource(WorkerSpec spec) {
        return spec.routerHintWorkerType() != null
                && spec.routerHintSourceControlEndpoints().values().stream().anyMatch(endpoint -> !endpoint.isEmpty());
    }

    /**
     * The source with the longest device prefix, if that is longer than what the target holds; among equals the first in unsigned order
     * of worker id and rank.
     *
     * @param target row of the chosen rank
     * @param held blocks that the target holds on its device and in host memory
     */
    @Nullable
    KvHint find(OverlapScores scores, int target, int held) {
        String role = roster.spec(target).routerHintWorkerType();
        if (role == null) {
            return null;
        }
        int best = -1;
        int most = held;
        for (int slot = scores.nextSlot(0); slot >= 0; slot = scores.nextSlot(slot + 1)) {
            int row = roster.rowOfSlot(slot);
            int blocks = scores.blocks(slot);
            if (row < 0 || row == target || blocks < most || (best < 0 && blocks == most)) {
                continue;
            }
            if (role.equals(roster.spec(row).routerHintWorkerType())
                    && !endpointOf(row).isEmpty()
                    && (blocks > most || isBefore(row, best))) {
                best = row;
                most = blocks;
            }
        }
        return best < 0
                ? null
                : new KvHint(
                        roster.rank(best), endpointOf(best), most, held, scores.lastExternalHash(roster.slot(best)));
    }

    private String endpointOf(int row) {
        return roster.spec(row).routerHintSourceControlEndpoints().getOrDefault(roster.rankNumber(row), "");
    }

    private boolean isBefore(int row, int other) {
        int byWorker = Long.compareUnsigned(roster.workerIdBits(row), roster.workerIdBits(other));
        return byWorker < 0
                || (byWorker == 0 && Integer.compareUnsigned(roster.rankNumber(row), roster.rankNumber(other)) < 0);
    }
}

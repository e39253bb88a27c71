package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.selection.internal.choice.CandidateTable;
import dev.tandemkv.selection.internal.ledger.BookingLedger;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Fills the candidate table of one attempt: load, cache and taints of every eligible row, read in one pass at one instant. Confined to the
 * partition step.
 */
final class CandidateReader {

    private static final long NOBODY = -1;

    private final Roster roster;
    private final LoadView loads;
    private final Holdings holdings;
    private final BookingLedger ledger;
    private final CandidateTable table;
    private final int blockSize;
    private final boolean tracksBlocks;
    private int[] depths = new int[16];
    private long listedVersion = NOBODY;
    private double bestOverlap;

    CandidateReader(
            Roster roster,
            LoadView loads,
            Holdings holdings,
            BookingLedger ledger,
            CandidateTable table,
            int blockSize,
            boolean tracksBlocks) {
        this.roster = roster;
        this.loads = loads;
        this.holdings = holdings;
        this.ledger = ledger;
        this.table = table;
        this.blockSize = blockSize;
        this.tracksBlocks = tracksBlocks;
    }

    void fill(Attempt attempt, Eligibility eligible, long now) {
        PreparedPrompt prompt = attempt.prompt();
        list(prompt, eligible);
        readLoad(prompt, now);
        bestOverlap = 0;
        readCache(attempt);
        readTaints(attempt.request().constraints().preferredTaints());
        if (attempt.request().pinnedWorker() != null || attempt.required() != null) {
            table.setDirected();
        }
    }

    /** Weighted blocks of the candidate that holds most. */
    double bestOverlap() {
        return bestOverlap;
    }

    /** Puts the eligible rows into the table; those of the last time stay there if they are the same. */
    private void list(PreparedPrompt prompt, Eligibility eligible) {
        boolean everybody = eligible.isEverybody();
        if (everybody && listedVersion == roster.version() && table.restart(prompt.islTokens(), blockSize)) {
            return;
        }
        listedVersion = everybody ? roster.version() : NOBODY;
        table.reset(prompt.islTokens(), blockSize);
        for (int i = 0; i < eligible.count(); i++) {
            int row = eligible.rows()[i];
            table.add(roster.workerIdBits(row), roster.rankNumber(row), row, Math.max(0, roster.kvBlocks(row)));
        }
    }

    private void readLoad(PreparedPrompt prompt, long now) {
        ledger.reserveRows(roster.limit());
        if (depths.length < ledger.rows()) {
            depths = new int[Math.max(ledger.rows(), depths.length * 2)];
        }
        long[] hashes = prompt.trackingHashes();
        int deepest = ledger.project(hashes, hashes.length, depths);
        long blocks = tracksBlocks ? hashes.length : prompt.requestBlocks();
        if (!loads.isReported()) {
            table.setLoads(ledger, blocks, depths, deepest, now);
            return;
        }
        for (int i = 0; i < table.size(); i++) {
            int row = table.ledgerRow(i);
            loads.read(row, now);
            int added = (int) Math.min(blocks - depths[row], Integer.MAX_VALUE);
            table.setLoad(i, loads.prefillTokens(), loads.decodeBlocks(), added, loads.requests());
        }
    }

    private void readCache(Attempt attempt) {
        holdings.of(attempt);
        OverlapScores scores = attempt.scores();
        if (!attempt.remote().isEmpty()) {
            for (int i = 0; i < table.size(); i++) {
                hold(i, table.ledgerRow(i));
            }
        } else if (scores != null) {
            // Few ranks hold anything of a prompt, so those are looked for, not everybody asked.
            for (int slot = scores.nextSlot(0); slot >= 0; slot = scores.nextSlot(slot + 1)) {
                int row = roster.rowOfSlot(slot);
                int i = row < 0 ? -1 : table.positionOf(row);
                if (i >= 0) {
                    hold(i, row);
                }
            }
        }
        int @Nullable [] sharedHits = attempt.sharedHits();
        if (sharedHits != null && sharedHits.length > 0) {
            for (int i = 0; i < table.size(); i++) {
                table.setShared(i, from(sharedHits, table.deviceBlocks(i)));
            }
        }
    }

    private void hold(int i, int row) {
        table.setTiers(i, holdings.device(row), holdings.host(row), holdings.disk(row));
        bestOverlap = Math.max(bestOverlap, table.weightedOverlapBlocks(i));
    }

    /** How many of the ascending positions are at or behind one. */
    static int from(int[] positions, int first) {
        int at = Arrays.binarySearch(positions, first);
        return positions.length - (at >= 0 ? at : -at - 1);
    }

    private void readTaints(Map<String, Double> preferred) {
        if (preferred.isEmpty()) {
            return;
        }
        table.preferTaints();
        for (int i = 0; i < table.size(); i++) {
            double weight = 0;
            WorkerSpec spec = roster.spec(table.ledgerRow(i));
            for (Map.Entry<String, Double> taint : preferred.entrySet()) {
                weight += spec.carries(taint.getKey()) ? taint.getValue() : 0;
            }
            table.setTaintWeight(i, weight);
        }
    }
}

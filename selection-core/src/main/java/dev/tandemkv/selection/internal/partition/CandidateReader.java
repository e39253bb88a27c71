package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.selection.internal.choice.CandidateTable;
import dev.tandemkv.selection.internal.ledger.BookingLedger;
import java.util.Arrays;
import java.util.Map;

/**
 * Fills the candidate table of one attempt: load, cache and taints of every eligible row, read in one pass at one instant. Confined to the
 * partition step.
 */
final class CandidateReader {

    private final Roster roster;
    private final LoadView loads;
    private final Holdings holdings;
    private final BookingLedger ledger;
    private final CandidateTable table;
    private final int blockSize;
    private final boolean tracksBlocks;
    private int[] depths = new int[16];

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
        table.reset(prompt.islTokens(), blockSize);
        long[] hashes = prompt.trackingHashes();
        project(hashes);
        int[] rows = eligible.rows();
        for (int i = 0; i < eligible.count(); i++) {
            int row = rows[i];
            table.add(roster.workerIdBits(row), roster.rankNumber(row), row, Math.max(0, roster.kvBlocks(row)));
            loads.read(row, now);
            long added = tracksBlocks ? hashes.length - depth(row, hashes) : prompt.requestBlocks();
            table.setLoad(
                    i,
                    loads.prefillTokens(),
                    loads.decodeBlocks(),
                    (int) Math.min(added, Integer.MAX_VALUE),
                    loads.requests());
        }
        readCache(attempt);
        readTaints(attempt.request().constraints().preferredTaints());
        if (attempt.request().pinnedWorker() != null || attempt.required() != null) {
            table.setDirected();
        }
    }

    /** How much of the prompt is active on each row; only rows that the ledger knows have any. */
    private void project(long[] hashes) {
        if (hashes.length > 0) {
            if (depths.length < ledger.rows()) {
                depths = new int[Math.max(ledger.rows(), depths.length * 2)];
            }
            ledger.project(hashes, hashes.length, depths);
        }
    }

    private int depth(int row, long[] hashes) {
        return hashes.length > 0 && row < ledger.rows() ? depths[row] : 0;
    }

    private void readCache(Attempt attempt) {
        holdings.of(attempt);
        if (holdings.known()) {
            for (int i = 0; i < table.size(); i++) {
                int row = table.ledgerRow(i);
                table.setTiers(i, holdings.device(row), holdings.host(row), holdings.disk(row));
            }
        }
        int[] sharedHits = attempt.sharedHits();
        if (sharedHits.length > 0) {
            for (int i = 0; i < table.size(); i++) {
                table.setShared(i, from(sharedHits, table.deviceBlocks(i)));
            }
        }
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
            for (String taint : roster.spec(table.ledgerRow(i)).taints()) {
                weight += preferred.getOrDefault(taint, 0.0);
            }
            table.setTaintWeight(i, weight);
        }
    }
}

package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.indexer.OverlapScores;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.selection.config.ScoringConfig;
import dev.tandemkv.selection.internal.ledger.BookingLedger;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The eligible ranks of one attempt with all that a policy may read of them, as columns: entry {@code i} of each array belongs to the
 * i-th candidate, in order of unsigned worker id and rank. Filled in one pass, at one instant.
 *
 * <p>Confined to the partition step; the arrays are reused from attempt to attempt and never shrink.
 */
final class Candidates {

    private final Roster roster;
    private final LoadView loads;
    private final BookingLedger ledger;
    private final ScoringConfig scoring;
    private final int blockSize;
    private final boolean tracksBlocks;

    private int count;
    private int[] rows = new int[0];
    private long[] activePrefill = new long[0];
    private long[] potentialDecode = new long[0];
    private long[] added = new long[0];
    private int[] activeRequests = new int[0];
    private int[] device = new int[0];
    private int[] host = new int[0];
    private int[] disk = new int[0];
    private double[] weighted = new double[0];
    private int[] depths = new int[0];

    Candidates(
            Roster roster,
            LoadView loads,
            BookingLedger ledger,
            ScoringConfig scoring,
            int blockSize,
            boolean tracksBlocks) {
        this.roster = roster;
        this.loads = loads;
        this.ledger = ledger;
        this.scoring = scoring;
        this.blockSize = blockSize;
        this.tracksBlocks = tracksBlocks;
    }

    /** Reads everything about the eligible rows, at this instant. */
    void fill(Attempt attempt, Eligibility eligible, long now) {
        count = eligible.count();
        ensureCapacity(roster.limit());
        System.arraycopy(eligible.rows(), 0, rows, 0, count);
        long[] hashes = attempt.prompt().trackingHashes();
        if (hashes.length > 0) {
            ledger.project(hashes, hashes.length, depths);
        }
        for (int i = 0; i < count; i++) {
            readLoad(i, attempt.prompt(), hashes.length, now);
        }
        readCache(attempt.scores());
    }

    private void readLoad(int i, PreparedPrompt prompt, int hashes, long now) {
        int row = rows[i];
        loads.read(row, now);
        activePrefill[i] = loads.prefillTokens();
        activeRequests[i] = loads.requests();
        long additional =
                !tracksBlocks ? prompt.requestBlocks() : hashes - (hashes > 0 && row < ledger.rows() ? depths[row] : 0);
        added[i] = additional;
        potentialDecode[i] = saturatedSum(loads.decodeBlocks(), additional);
    }

    private void readCache(@Nullable OverlapScores scores) {
        if (scores == null) {
            Arrays.fill(device, 0, count, 0);
            Arrays.fill(host, 0, count, 0);
            Arrays.fill(disk, 0, count, 0);
            Arrays.fill(weighted, 0, count, 0);
            return;
        }
        for (int i = 0; i < count; i++) {
            // A rank without a slot reads as one that holds nothing.
            int slot = roster.slot(rows[i]);
            device[i] = scores.blocks(slot);
            host[i] = scores.blocks(slot, Tier.HOST_PINNED);
            disk[i] = scores.blocks(slot, Tier.DISK) + scores.blocks(slot, Tier.EXTERNAL);
            weighted[i] = device[i] + scoring.hostCacheHitWeight() * host[i] + scoring.diskCacheHitWeight() * disk[i];
        }
    }

    private void ensureCapacity(int limit) {
        if (rows.length >= limit) {
            return;
        }
        int size = Math.max(16, Math.max(limit, rows.length * 2));
        rows = new int[size];
        activePrefill = new long[size];
        potentialDecode = new long[size];
        added = new long[size];
        activeRequests = new int[size];
        device = new int[size];
        host = new int[size];
        disk = new int[size];
        weighted = new double[size];
        depths = Arrays.copyOf(depths, size);
    }

    private static long saturatedSum(long a, long b) {
        long sum = a + b;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }

    int count() {
        return count;
    }

    int row(int i) {
        return rows[i];
    }

    /** Booked or reported prefill tokens, decayed. */
    long activePrefillTokens(int i) {
        return activePrefill[i];
    }

    /** Active blocks and those of this request that are not active there, counted once. */
    long potentialDecodeBlocks(int i) {
        return potentialDecode[i];
    }

    /** Those of this request that are not active there. */
    long addedBlocks(int i) {
        return added[i];
    }

    int activeRequests(int i) {
        return activeRequests[i];
    }

    int deviceBlocks(int i) {
        return device[i];
    }

    /** Blocks in host memory that continue the device prefix. */
    int hostBlocks(int i) {
        return host[i];
    }

    /** Blocks on disk or in an external store that continue it further. */
    int diskBlocks(int i) {
        return disk[i];
    }

    /** Blocks over all tiers, each at its tier's weight; the device counts 1. */
    double weightedBlocks(int i) {
        return weighted[i];
    }

    /** {@code min(isl, weighted overlap x block size)}, fractions kept. */
    double cachedTokens(int i, long islTokens) {
        return Math.min((double) islTokens, weighted[i] * blockSize);
    }
}

package dev.tandemkv.selection.internal.choice;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.internal.ledger.BookingLedger;
import java.util.Arrays;

/**
 * The eligible ranks of one decision and what is known of them: one row a rank, one array a column. A partition keeps one table and
 * fills it anew for each decision: {@link #reset}, then {@link #add} for each rank in unsigned (worker id, rank) order, then what its
 * policy declares: the load of every row ({@link #setLoads}), and the cache and taint columns for the rows that have any; those are 0 otherwise.
 *
 * <p>Components never see the table but a {@link TableView} that shows what they declared. Single-threaded, as the partition step.
 */
public final class CandidateTable {

    private final double hostWeight;
    private final double diskWeight;

    private long isl;
    private int blockSize = 1;
    private int size;
    /** Rows that were in the table before any were dropped, which {@link #reset} has to clear. */
    private int filled;

    private boolean directed;
    private boolean taintsRequested;
    private boolean anyTier;
    /** Whether any row has blocks on a tier below the device. */
    private boolean anyLowerTier;

    private boolean anyShared;
    /** Whether rows were dropped since the last reset. */
    private boolean dropped;
    /** Whether the load columns are the ledger's, apart from the rows that it says have changed. */
    private boolean followsLedger;

    private long[] workerId = new long[16];
    private int[] rank = new int[16];
    private int[] ledgerRow = new int[16];
    /** Where a ledger row is in this table; of use only where the table agrees. */
    private int[] positions = new int[16];

    private long[] totalBlocks = new long[16];

    // Counts are doubles, because the cost is: it is computed for every row of every decision, without conversions.

    // Dense columns: written for every row or read by nobody.
    double[] activePrefill = new double[16];
    double[] activeDecode = new double[16];
    double[] potentialDecode = new double[16];
    double[] requests = new double[16];

    // Sparse columns: cleared by reset.
    double[] device = new double[16];
    double[] host = new double[16];
    double[] disk = new double[16];
    double[] shared = new double[16];
    private double[] taintWeight = new double[16];

    /**
     * @param hostWeight worth of a block in host memory
     * @param diskWeight worth of a block on disk
     */
    public CandidateTable(double hostWeight, double diskWeight) {
        this.hostWeight = hostWeight;
        this.diskWeight = diskWeight;
    }

    // ---- filling

    /** Empties the table for another decision. */
    public void reset(long islTokens, int blockSizeTokens) {
        clear(islTokens, blockSizeTokens);
        size = 0;
        filled = 0;
        dropped = false;
        followsLedger = false;
    }

    /** Forgets the last decision, apart from its candidates and their load. */
    private void clear(long islTokens, int blockSizeTokens) {
        if (anyTier) {
            Arrays.fill(device, 0, filled, 0);
        }
        if (anyLowerTier) {
            Arrays.fill(host, 0, filled, 0);
            Arrays.fill(disk, 0, filled, 0);
        }
        if (anyShared) {
            Arrays.fill(shared, 0, filled, 0);
        }
        if (taintsRequested) {
            Arrays.fill(taintWeight, 0, filled, 0);
        }
        isl = islTokens;
        blockSize = blockSizeTokens;
        directed = false;
        taintsRequested = false;
        anyTier = false;
        anyLowerTier = false;
        anyShared = false;
    }

    /**
     * As {@link #reset}, for a decision with the same candidates as the last one: their identities stay, and so does what was read of their
     * load.
     *
     * @return false, and then nothing is done, if a decision has dropped rows since they were added
     */
    public boolean restart(long islTokens, int blockSizeTokens) {
        if (dropped) {
            return false;
        }
        clear(islTokens, blockSizeTokens);
        return true;
    }

    /**
     * Adds a candidate.
     *
     * @param row where its load is in the ledger
     * @param totalKvBlocks KV blocks of the rank, or 0 if unknown
     * @return its row in this table
     */
    public int add(long worker, int dpRank, int row, long totalKvBlocks) {
        if (size == workerId.length) {
            grow();
        }
        workerId[size] = worker;
        rank[size] = dpRank;
        ledgerRow[size] = row;
        totalBlocks[size] = totalKvBlocks;
        if (row >= positions.length) {
            positions = Arrays.copyOf(positions, Math.max(row + 1, positions.length * 2));
        }
        positions[row] = size;
        filled = size + 1;
        return size++;
    }

    /**
     * Load of every row: what the ledger has booked. After a {@link #restart} only the rows that changed are read again, so that a decision
     * costs one pass over the candidates and not one for each figure.
     *
     * @param requestBlocks blocks of this request
     * @param depths how many of them are active on each ledger row
     * @param deepest the most that are active on any
     */
    public void setLoads(BookingLedger ledger, long requestBlocks, int[] depths, int deepest, long now) {
        if (!followsLedger) {
            ledger.readLoads(ledgerRow, size, activeDecode, requests);
            ledger.readPrefillTokens(ledgerRow, size, now, activePrefill);
            followsLedger = true;
        } else {
            followChanges(ledger, now);
        }
        ledger.caughtUp();
        if (deepest == 0) {
            for (int i = 0; i < size; i++) {
                potentialDecode[i] = activeDecode[i] + (double) requestBlocks;
            }
        } else {
            for (int i = 0; i < size; i++) {
                potentialDecode[i] = activeDecode[i] + (requestBlocks - depths[ledgerRow[i]]);
            }
        }
    }

    private void followChanges(BookingLedger ledger, long now) {
        for (int c = 0; c < ledger.changedRows(); c++) {
            int row = ledger.changedRow(c);
            int i = positionOf(row);
            if (i >= 0) {
                activePrefill[i] = (double) ledger.activePrefillTokens(row, now);
                activeDecode[i] = (double) ledger.activeDecodeBlocks(row);
                requests[i] = ledger.activeRequests(row);
            }
        }
        if (ledger.decays()) {
            ledger.readPrefillTokens(ledgerRow, size, now, activePrefill);
        }
    }

    /**
     * Load of a row at the instant of the decision.
     *
     * @param prefillTokens booked prefill tokens, decayed
     * @param decodeBlocks booked decode blocks
     * @param additionalBlocks blocks of this request that are not active there
     * @param activeRequests booked requests
     */
    public void setLoad(int row, long prefillTokens, long decodeBlocks, int additionalBlocks, int activeRequests) {
        followsLedger = false;
        activePrefill[row] = (double) prefillTokens;
        activeDecode[row] = (double) decodeBlocks;
        potentialDecode[row] = (double) (decodeBlocks + additionalBlocks);
        requests[row] = activeRequests;
    }

    /** What a row caches of the prompt: blocks on the device, in host memory behind them, on disk behind those. */
    public void setTiers(int row, int deviceBlocks, int hostBlocks, int diskBlocks) {
        device[row] = deviceBlocks;
        host[row] = hostBlocks;
        disk[row] = diskBlocks;
        anyTier |= (deviceBlocks | hostBlocks | diskBlocks) != 0;
        anyLowerTier |= (hostBlocks | diskBlocks) != 0;
    }

    /** Shared-cache blocks at positions behind the row's device blocks. */
    public void setShared(int row, int sharedBlocks) {
        shared[row] = sharedBlocks;
        anyShared = true;
    }

    /** Says that the request prefers taints, so that {@link #setTaintWeight} counts. */
    public void preferTaints() {
        taintsRequested = true;
    }

    /** Sum of the request's weights of the preferred taints that the row's worker has. */
    public void setTaintWeight(int row, double weight) {
        taintWeight[row] = weight;
    }

    /** Says that the rows are what a pin or an affinity target left. */
    public void setDirected() {
        directed = true;
    }

    private void grow() {
        int capacity = size * 2;
        workerId = Arrays.copyOf(workerId, capacity);
        rank = Arrays.copyOf(rank, capacity);
        ledgerRow = Arrays.copyOf(ledgerRow, capacity);
        totalBlocks = Arrays.copyOf(totalBlocks, capacity);
        activePrefill = Arrays.copyOf(activePrefill, capacity);
        activeDecode = Arrays.copyOf(activeDecode, capacity);
        potentialDecode = Arrays.copyOf(potentialDecode, capacity);
        requests = Arrays.copyOf(requests, capacity);
        device = Arrays.copyOf(device, capacity);
        host = Arrays.copyOf(host, capacity);
        disk = Arrays.copyOf(disk, capacity);
        shared = Arrays.copyOf(shared, capacity);
        taintWeight = Arrays.copyOf(taintWeight, capacity);
    }

    /** Which rows stay. */
    @FunctionalInterface
    interface RowTest {
        boolean test(int row);
    }

    /** Drops the rows that fail a test; the others keep their order. */
    void keep(RowTest test) {
        int kept = 0;
        for (int row = 0; row < size; row++) {
            if (test.test(row)) {
                move(row, kept++);
            }
        }
        dropped |= kept < size;
        size = kept;
    }

    private void move(int from, int to) {
        if (from == to) {
            return;
        }
        workerId[to] = workerId[from];
        rank[to] = rank[from];
        ledgerRow[to] = ledgerRow[from];
        totalBlocks[to] = totalBlocks[from];
        activePrefill[to] = activePrefill[from];
        activeDecode[to] = activeDecode[from];
        potentialDecode[to] = potentialDecode[from];
        requests[to] = requests[from];
        device[to] = device[from];
        host[to] = host[from];
        disk[to] = disk[from];
        shared[to] = shared[from];
        taintWeight[to] = taintWeight[from];
    }

    // ---- reading

    public int size() {
        return size;
    }

    public long workerId(int row) {
        return workerId[row];
    }

    public int rank(int row) {
        return rank[row];
    }

    public WorkerRank worker(int row) {
        return new WorkerRank(workerId[row], rank[row]);
    }

    /** Where the row's load is in the ledger. */
    public int ledgerRow(int row) {
        return ledgerRow[row];
    }

    /** Where a ledger row is in this table, or -1. */
    public int positionOf(int row) {
        int at = row < positions.length ? positions[row] : size;
        return at < size && ledgerRow[at] == row ? at : -1;
    }

    public boolean directed() {
        return directed;
    }

    boolean taintsRequested() {
        return taintsRequested;
    }

    boolean anyTier() {
        return anyTier;
    }

    boolean anyLowerTier() {
        return anyLowerTier;
    }

    boolean anyShared() {
        return anyShared;
    }

    public long totalKvBlocks(int row) {
        return totalBlocks[row];
    }

    public long activePrefillTokens(int row) {
        return (long) activePrefill[row];
    }

    public long activeDecodeBlocks(int row) {
        return (long) activeDecode[row];
    }

    public long potentialDecodeBlocks(int row) {
        return (long) potentialDecode[row];
    }

    public int activeRequests(int row) {
        return (int) requests[row];
    }

    public int deviceBlocks(int row) {
        return (int) device[row];
    }

    public int hostBlocks(int row) {
        return (int) host[row];
    }

    public int diskBlocks(int row) {
        return (int) disk[row];
    }

    public int sharedBlocks(int row) {
        return (int) shared[row];
    }

    /** Blocks of the prompt that a row holds in any of its tiers. */
    public int overlapBlocks(int row) {
        return (int) (device[row] + host[row] + disk[row]);
    }

    /** The most blocks of the prompt that any row holds. */
    public int bestOverlapBlocks() {
        int best = 0;
        for (int row = 0; anyTier && row < size; row++) {
            best = Math.max(best, overlapBlocks(row));
        }
        return best;
    }

    double taintWeight(int row) {
        return taintWeight[row];
    }

    public double weightedOverlapBlocks(int row) {
        return device[row] + hostWeight * host[row] + diskWeight * disk[row];
    }

    /** {@code min(isl, weighted overlap x block size)}, fractions kept (D-CACHED). */
    public double cachedTokens(int row) {
        return Math.min((double) isl, weightedOverlapBlocks(row) * blockSize);
    }

    /** {@code isl - cached}, never negative. */
    public double uncachedTokens(int row) {
        return isl - cachedTokens(row);
    }
}

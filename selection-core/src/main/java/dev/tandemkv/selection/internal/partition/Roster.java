package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The ranks of one partition as dense rows: what the selection loop reads of each rank, in arrays indexed by row.
 *
 * <p>A row belongs to one rank from {@link #add} to {@link #remove}; its number is then given to another one. The ledger uses the same
 * numbers. {@link #order} lists the rows in use by unsigned worker id and rank, so that nothing depends on when a worker joined.
 *
 * <p>A row may also be lent to a rank that is not registered, for what peers have booked on it: it is in use, but in neither {@code order}
 * nor {@code rows}, and becomes the rank's row once it registers.
 *
 * <p>Confined to the partition step. Invariants: {@code order} holds exactly the rows in use; {@code rows} maps each rank to its row;
 * every array is at least {@link #limit} long.
 */
final class Roster {

    /** Stands for a rank without {@code max_num_batched_tokens}. */
    static final long UNKNOWN_BATCH = 10_000_000;

    /** Stands for an unknown number of KV blocks. */
    static final long UNKNOWN_BLOCKS = -1;

    static final int NO_SLOT = -1;

    private final Map<WorkerRank, Integer> rows = new HashMap<>();
    private final Map<WorkerRank, Integer> lent = new HashMap<>();
    private final ArrayDeque<Integer> free = new ArrayDeque<>();

    private WorkerRank[] ranks = new WorkerRank[8];
    private WorkerSpec[] specs = new WorkerSpec[8];
    private Long[] workerIds = new Long[8];
    private boolean[] draining = new boolean[8];
    private int[] slots = new int[8];
    private long[] batchTokens = new long[8];
    private long[] kvBlocks = new long[8];
    private long[] workerIdBits = new long[8];
    private int[] rankNumbers = new int[8];
    /** The row of each index slot, or -1; the inverse of {@code slots}. */
    private int[] rowOfSlot = {};

    private int[] order = {};
    private long version;
    private int limit;
    private long leastKvBlocks = Long.MAX_VALUE;
    private int drainingRows;

    /** Takes a rank in and returns its row. */
    int add(WorkerRank rank, WorkerSpec spec, int slot) {
        Integer present = lent.remove(rank);
        int row = present == null ? take() : present;
        ranks[row] = rank;
        workerIds[row] = rank.workerId();
        workerIdBits[row] = rank.workerId();
        rankNumbers[row] = rank.rank();
        slots[row] = NO_SLOT;
        slot(row, slot);
        draining[row] = false;
        rows.put(rank, row);
        describe(row, spec);
        return row;
    }

    private int take() {
        Integer reused = free.poll();
        int row = reused == null ? limit++ : reused;
        if (row == ranks.length) {
            grow(row * 2);
        }
        return row;
    }

    /** The row of a rank that is not registered. */
    int lend(WorkerRank rank) {
        return lent.computeIfAbsent(rank, r -> take());
    }

    /** Nothing is booked on a rank any more: its row is free, if it was only lent. */
    void giveBack(WorkerRank rank) {
        Integer row = lent.remove(rank);
        if (row != null) {
            free.add(row);
        }
    }

    /** Replaces a rank's metadata. */
    void describe(int row, WorkerSpec spec) {
        specs[row] = spec;
        Long tokens = spec.maxNumBatchedTokens();
        batchTokens[row] = tokens == null ? UNKNOWN_BATCH : saturated(tokens);
        Long blocks = spec.kvBlocksPerRank();
        kvBlocks[row] = blocks == null ? UNKNOWN_BLOCKS : saturated(blocks);
    }

    /** Unsigned capacities of 2^63 and more are reckoned with as 2^63 - 1. */
    private static long saturated(long unsigned) {
        return unsigned < 0 ? Long.MAX_VALUE : unsigned;
    }

    /** Lets a rank go; its row is free afterwards. */
    void remove(int row) {
        rows.remove(ranks[row]);
        if (draining[row]) {
            drainingRows--;
        }
        draining[row] = false;
        slot(row, NO_SLOT);
        free.add(row);
    }

    void drain(int row) {
        if (!draining[row]) {
            draining[row] = true;
            drainingRows++;
        }
    }

    /** Called once after a series of {@link #add}, {@link #describe} and {@link #remove}. */
    void reorder() {
        version++;
        order = rows.entrySet().stream()
                .sorted(Map.Entry.comparingByKey(WorkerRank.UNSIGNED_ORDER))
                .mapToInt(Map.Entry::getValue)
                .toArray();
        leastKvBlocks = Arrays.stream(order)
                .mapToLong(row -> kvBlocks[row])
                .filter(blocks -> blocks != UNKNOWN_BLOCKS)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    private void grow(int capacity) {
        ranks = Arrays.copyOf(ranks, capacity);
        specs = Arrays.copyOf(specs, capacity);
        workerIds = Arrays.copyOf(workerIds, capacity);
        workerIdBits = Arrays.copyOf(workerIdBits, capacity);
        rankNumbers = Arrays.copyOf(rankNumbers, capacity);
        draining = Arrays.copyOf(draining, capacity);
        slots = Arrays.copyOf(slots, capacity);
        batchTokens = Arrays.copyOf(batchTokens, capacity);
        kvBlocks = Arrays.copyOf(kvBlocks, capacity);
    }

    /** The rank's row, or -1. */
    int rowOf(WorkerRank rank) {
        Integer row = rows.get(rank);
        return row == null ? -1 : row;
    }

    /** The rows of a worker as of the last {@link #reorder}, in order of rank, without those it has lost since. */
    List<Integer> rowsOf(long workerId) {
        List<Integer> found = new ArrayList<>();
        for (int row : order) {
            if (workerIdBits[row] == workerId && rowOf(ranks[row]) == row) {
                found.add(row);
            }
        }
        return found;
    }

    /** The rows in use, by unsigned worker id and rank. Not to be changed. */
    int[] order() {
        return order;
    }

    int size() {
        return order.length;
    }

    /** One more than the highest row ever used. */
    int limit() {
        return limit;
    }

    /** The least KV blocks that any rank is known to have; the greatest number there is where none is known. */
    long leastKvBlocks() {
        return leastKvBlocks;
    }

    boolean anyDraining() {
        return drainingRows > 0;
    }

    WorkerRank rank(int row) {
        return ranks[row];
    }

    WorkerSpec spec(int row) {
        return specs[row];
    }

    /** The worker id as an object made once, for lookups in sets. */
    Long workerId(int row) {
        return workerIds[row];
    }

    long workerIdBits(int row) {
        return workerIdBits[row];
    }

    /** The data-parallel rank, unsigned. */
    int rankNumber(int row) {
        return rankNumbers[row];
    }

    boolean draining(int row) {
        return draining[row];
    }

    /** The rank's slot in the index, or {@link #NO_SLOT}. */
    int slot(int row) {
        return slots[row];
    }

    void slot(int row, int slot) {
        int before = slots[row];
        if (before != NO_SLOT && rowOfSlot[before] == row) {
            rowOfSlot[before] = -1;
        }
        slots[row] = slot;
        if (slot != NO_SLOT) {
            if (slot >= rowOfSlot.length) {
                int known = rowOfSlot.length;
                rowOfSlot = Arrays.copyOf(rowOfSlot, Math.max(slot + 1, known * 2));
                Arrays.fill(rowOfSlot, known, rowOfSlot.length, -1);
            }
            rowOfSlot[slot] = row;
        }
    }

    /** The row whose rank has a slot in the index, or -1. */
    int rowOfSlot(int slot) {
        return slot < rowOfSlot.length ? rowOfSlot[slot] : -1;
    }

    /** Changes whenever the rows or their metadata do. */
    long version() {
        return version;
    }

    /** Prefill tokens of one batch, or {@link #UNKNOWN_BATCH}. */
    long batchTokens(int row) {
        return batchTokens[row];
    }

    /** KV blocks of the rank, or {@link #UNKNOWN_BLOCKS}. */
    long kvBlocks(int row) {
        return kvBlocks[row];
    }

    /** The metadata of a worker, or {@code null}. */
    @Nullable
    WorkerSpec find(long workerId) {
        for (int row : order) {
            if (ranks[row].workerId() == workerId) {
                return specs[row];
            }
        }
        return null;
    }
}

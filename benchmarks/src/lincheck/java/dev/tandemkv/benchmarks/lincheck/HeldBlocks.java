package dev.tandemkv.benchmarks.lincheck;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The sequential model of the index: which blocks of two paths, equal in their first half, each rank holds. */
public class HeldBlocks {

    static final int RANKS = 2;

    private static final long[][] PATHS = {{1, 2, 13, 14}, {1, 2, 23, 24}};

    private final List<Set<Long>> held = new ArrayList<>();

    public HeldBlocks() {
        for (int rank = 0; rank < RANKS; rank++) {
            held.add(new HashSet<>());
            for (long block : atStart(rank)) {
                held.get(rank).add(block);
            }
        }
    }

    /** Block hashes of one path, local and external alike. */
    static long[] path(int branch) {
        return PATHS[branch];
    }

    /** Rank 0 begins with all of one path, rank 1 with most of the other: a branch, one more block to gain, something to lose. */
    static long[] atStart(int rank) {
        return Arrays.copyOf(PATHS[rank], 4 - rank);
    }

    /** A block whose predecessor the rank does not hold is refused. */
    public void store(int rank, int branch, int block) {
        if (block == 0 || held.get(rank).contains(PATHS[branch][block - 1])) {
            held.get(rank).add(PATHS[branch][block]);
        }
    }

    public void evict(int rank, int branch, int block) {
        held.get(rank).remove(PATHS[branch][block]);
    }

    public String find(int branch) {
        int[] blocks = new int[RANKS];
        for (int rank = 0; rank < RANKS; rank++) {
            while (blocks[rank] < PATHS[branch].length && held.get(rank).contains(PATHS[branch][blocks[rank]])) {
                blocks[rank]++;
            }
        }
        return Arrays.toString(blocks);
    }
}

package dev.tandemkv.selection.internal.choice;

import java.util.random.RandomGenerator;

/**
 * The lowest of some costs, how many rows share it, and whether any cost is not finite: all that a decision asks of its costs, found in one
 * pass over them. Reused; single-threaded.
 */
final class LowestCost {

    private static final int NONE = -1;

    private double cost;
    private int first;
    private int ties;
    private int notFinite;

    /** Looks at the first {@code size} costs. One that is no number never wins, an infinite one only over nothing better. */
    void find(double[] costs, int size) {
        double lowest = Double.POSITIVE_INFINITY;
        int firstRow = NONE;
        int rows = 0;
        int bad = NONE;
        for (int row = 0; row < size; row++) {
            double each = costs[row];
            // Branches that are hardly ever taken; Math.min makes each row wait for the one before.
            if (each <= lowest) {
                if (each < lowest || rows == 0) {
                    lowest = each;
                    firstRow = row;
                    rows = 0;
                    bad = bad == NONE && !isFinite(each) ? row : bad;
                }
                rows++;
            } else if (!(each <= Double.MAX_VALUE)) {
                bad = bad == NONE ? row : bad;
            }
        }
        cost = lowest;
        first = firstRow;
        ties = rows;
        notFinite = bad;
    }

    private static boolean isFinite(double cost) {
        return Math.abs(cost) <= Double.MAX_VALUE;
    }

    double cost() {
        return cost;
    }

    /** The first row whose cost is not finite, or -1. */
    int notFinite() {
        return notFinite;
    }

    /** A row with the lowest cost; of several each equally likely, with a single draw. Reads the costs that {@link #find} looked at. */
    int draw(double[] costs, RandomGenerator random) {
        int row = first;
        for (int left = ties <= 1 ? 0 : random.nextInt(ties); left > 0; left--) {
            do {
                row++;
            } while (costs[row] != cost);
        }
        return row;
    }
}

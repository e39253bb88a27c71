package dev.tandemkv.indexer.internal;

/** The arrays behind one caller's best-k answer. */
public final class BestScratch {

    public final int k;
    public final int[] slots;
    public final int[] blocks;
    public int size;
    public int rotation;
    public long[] workerIds = ScoreScratch.NO_IDS;
    public int[] dpRanks = ScoreScratch.NONE;
    public long epoch;

    /** Ranks still matching, one bit each. */
    long[] active = new long[1];

    public BestScratch(int k) {
        this.k = k;
        slots = new int[k];
        blocks = new int[k];
    }

    /** Puts a rank in its place among the best; the first of equals stays in front. */
    public void offer(int slot, int depth) {
        int at = size;
        while (at > 0 && blocks[at - 1] < depth) {
            at--;
        }
        if (at == k) {
            return;
        }
        int last = Math.min(size, k - 1);
        for (int i = last; i > at; i--) {
            slots[i] = slots[i - 1];
            blocks[i] = blocks[i - 1];
        }
        slots[at] = slot;
        blocks[at] = depth;
        size = last + 1;
    }
}

package dev.tandemkv.indexer.internal;

/** What the index's arrays take, to the byte (headers included as 16 bytes each). Touched by the writer only. */
final class ByteCount {

    private static final int HEADER = 16;

    private long total;

    static long longs(int length) {
        return HEADER + 8L * length;
    }

    static long ints(int length) {
        return HEADER + 4L * length;
    }

    /** An array of references, compressed. */
    static long references(int length) {
        return HEADER + 4L * length;
    }

    void add(long bytes) {
        total += bytes;
    }

    long total() {
        return total;
    }
}

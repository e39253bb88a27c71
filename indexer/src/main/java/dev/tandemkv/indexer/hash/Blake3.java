package dev.tandemkv.indexer.hash;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The keyed hash of BLAKE3, 32 bytes out. After the BLAKE3 paper (O'Connor, Aumasson, Neves, Wilcox-O'Hearn, 2020), sections 2.1 to 2.6.
 * Stateless; written for short messages, one of which is hashed per request at most.
 *
 * <p>The message is cut into chunks of 1,024 bytes, the leaves of a binary tree whose left subtrees are full. A chunk is a chain of
 * compressions over 64-byte blocks, a parent one compression over its children's chaining values; the last compression of the tree
 * carries the root flag.
 */
final class Blake3 {

    static final int KEY_LENGTH = 32;

    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private static final int BLOCK = 64;
    private static final int CHUNK = 1024;

    private static final int CHUNK_START = 1;
    private static final int CHUNK_END = 2;
    private static final int PARENT = 4;
    private static final int ROOT = 8;
    private static final int KEYED = 16;

    private static final int[] IV = {
        0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19
    };
    private static final int[] PERMUTATION = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};

    private Blake3() {}

    /** Keyed hash of the message. */
    static byte[] keyed(byte[] key, byte[] message) {
        int[] root = subtree(words(key), message, 0, message.length, ROOT);
        byte[] out = new byte[32];
        for (int i = 0; i < 8; i++) {
            INTS.set(out, 4 * i, root[i]);
        }
        return out;
    }

    private static int[] words(byte[] bytes) {
        int[] words = new int[bytes.length / 4];
        for (int i = 0; i < words.length; i++) {
            words[i] = (int) INTS.get(bytes, 4 * i);
        }
        return words;
    }

    /** Chaining value of the subtree over {@code [from, to)}; {@code flags} go to its topmost compression. */
    private static int[] subtree(int[] key, byte[] message, int from, int to, int flags) {
        if (to - from <= CHUNK) {
            return chunk(key, message, from, to, flags);
        }
        // The left side takes the largest power of two of chunks that leaves at least one byte to the right.
        int left = Integer.highestOneBit((to - from - 1) / CHUNK) * CHUNK;
        int[] block = new int[16];
        System.arraycopy(subtree(key, message, from, from + left, 0), 0, block, 0, 8);
        System.arraycopy(subtree(key, message, from + left, to, 0), 0, block, 8, 8);
        return compress(key, block, 0, BLOCK, KEYED | PARENT | flags);
    }

    private static int[] chunk(int[] key, byte[] message, int from, int to, int flags) {
        int[] chaining = key;
        int at = from;
        int start = CHUNK_START;
        do {
            int length = Math.min(BLOCK, to - at);
            int[] block = words(Arrays.copyOf(Arrays.copyOfRange(message, at, at + length), BLOCK));
            int end = at + length == to ? CHUNK_END | flags : 0;
            chaining = compress(chaining, block, from / CHUNK, length, KEYED | start | end);
            at += length;
            start = 0;
        } while (at < to);
        return chaining;
    }

    private static int[] compress(int[] chaining, int[] block, long counter, int length, int flags) {
        int[] v = Arrays.copyOf(chaining, 16);
        System.arraycopy(IV, 0, v, 8, 4);
        v[12] = (int) counter;
        v[13] = (int) (counter >>> 32);
        v[14] = length;
        v[15] = flags;
        int[] m = block;
        for (int round = 0; round < 7; round++) {
            for (int i = 0; i < 4; i++) {
                mix(v, i, 4 + i, 8 + i, 12 + i, m[2 * i], m[2 * i + 1]);
            }
            for (int i = 0; i < 4; i++) {
                mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[8 + 2 * i], m[9 + 2 * i]);
            }
            m = permuted(m);
        }
        int[] out = new int[8];
        for (int i = 0; i < 8; i++) {
            out[i] = v[i] ^ v[i + 8];
        }
        return out;
    }

    private static void mix(int[] v, int a, int b, int c, int d, int x, int y) {
        v[a] += v[b] + x;
        v[d] = Integer.rotateRight(v[d] ^ v[a], 16);
        v[c] += v[d];
        v[b] = Integer.rotateRight(v[b] ^ v[c], 12);
        v[a] += v[b] + y;
        v[d] = Integer.rotateRight(v[d] ^ v[a], 8);
        v[c] += v[d];
        v[b] = Integer.rotateRight(v[b] ^ v[c], 7);
    }

    private static int[] permuted(int[] m) {
        int[] out = new int[16];
        for (int i = 0; i < 16; i++) {
            out[i] = m[PERMUTATION[i]];
        }
        return out;
    }
}

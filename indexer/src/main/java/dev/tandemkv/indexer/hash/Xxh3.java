package dev.tandemkv.indexer.hash;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * XXH3-64 with a 64-bit seed, over bytes or over 32-bit words that stand for their little-endian bytes. Immutable, thread-safe, no
 * allocation per call. After the XXH3 specification (Yann Collet, xxHash 0.8, {@code doc/xxhash_spec.md}).
 *
 * <p>An instance holds everything that depends on the seed: the secret derived from it and the words cut from that secret at odd offsets.
 * They are fields, not an array, because the bounds checks of an array cost about a tenth of a 256-byte block.
 *
 * <p>Inputs above 240 bytes run through eight accumulators. These only ever interact in pairs, so each pair makes its own pass with two
 * values in registers and contributes one folded product to the result.
 */
public final class Xxh3 {

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private static final long PRIME32_1 = 0x9E3779B1L;
    private static final long PRIME32_2 = 0x85EBCA77L;
    private static final long PRIME32_3 = 0xC2B2AE3DL;
    private static final long PRIME64_1 = 0x9E3779B185EBCA87L;
    private static final long PRIME64_2 = 0xC2B2AE3D27D4EB4FL;
    private static final long PRIME64_3 = 0x165667B19E3779F9L;
    private static final long PRIME64_4 = 0x85EBCA77C2B2AE63L;
    private static final long PRIME64_5 = 0x27D4EB2F165667C5L;

    /** Stripes of 64 bytes between two scrambles: each advances the secret by one long, and 8 longs must be left. */
    private static final int STRIPES_PER_BLOCK = 16;

    /** The published default secret, as little-endian longs. */
    private static final long[] SECRET = {
        0xbe4ba423396cfeb8L, 0x1cad21f72c81017cL, 0xdb979083e96dd4deL, 0x1f67b3b7a4a44072L,
        0x78e5c0cc4ee679cbL, 0x2172ffcc7dd05a82L, 0x8e2443f7744608b8L, 0x4c263a81e69035e0L,
        0xcb00c391bb52283cL, 0xa32e531b8b65d088L, 0x4ef90da297486471L, 0xd8acdea946ef1938L,
        0x3f349ce33f76faa8L, 0x1d4f0bc7c7bbdcf9L, 0x3159b4cd4be0518aL, 0x647378d9c97e9fc8L,
        0xc3ebd33483acc5eaL, 0xeb6313faffa081c5L, 0x49daf0b751dd0d17L, 0x9e68d429265516d3L,
        0xfca1477d58be162bL, 0xce31d07ad1b8f88fL, 0x280416958f3acb45L, 0x7e404bbbcafbd7afL
    };

    private final long seed;

    /** The derived secret as an array, for inputs that need to index it. */
    private final long[] derived;

    private final long k0;
    private final long k1;
    private final long k2;
    private final long k3;
    private final long k4;
    private final long k5;
    private final long k6;
    private final long k7;
    private final long k8;
    private final long k9;

    /** Secret of the last stripe, from byte 121. */
    private final long last0;

    private final long last1;
    private final long last2;
    private final long last3;
    private final long last4;
    private final long last5;
    private final long last6;
    private final long last7;

    /** Secret of the merge, from byte 11. */
    private final long merge0;

    private final long merge1;
    private final long merge2;
    private final long merge3;
    private final long merge4;
    private final long merge5;
    private final long merge6;
    private final long merge7;

    private final long flipEmpty;
    private final int flip1To3;
    private final long flip4To8;
    private final long flipLow9To16;
    private final long flipHigh9To16;

    private Xxh3(long seed) {
        this.seed = seed;
        long[] d = new long[SECRET.length];
        for (int i = 0; i < d.length; i += 2) {
            d[i] = SECRET[i] + seed;
            d[i + 1] = SECRET[i + 1] - seed;
        }
        derived = d;
        k0 = d[0];
        k1 = d[1];
        k2 = d[2];
        k3 = d[3];
        k4 = d[4];
        k5 = d[5];
        k6 = d[6];
        k7 = d[7];
        k8 = d[8];
        k9 = d[9];
        last0 = at(d, 121);
        last1 = at(d, 129);
        last2 = at(d, 137);
        last3 = at(d, 145);
        last4 = at(d, 153);
        last5 = at(d, 161);
        last6 = at(d, 169);
        last7 = at(d, 177);
        merge0 = at(d, 11);
        merge1 = at(d, 19);
        merge2 = at(d, 27);
        merge3 = at(d, 35);
        merge4 = at(d, 43);
        merge5 = at(d, 51);
        merge6 = at(d, 59);
        merge7 = at(d, 67);
        flipEmpty = seed ^ SECRET[7] ^ SECRET[8];
        flip1To3 = (int) (SECRET[0] ^ (SECRET[0] >>> 32));
        flip4To8 = (SECRET[1] ^ SECRET[2]) - (seed ^ ((long) Integer.reverseBytes((int) seed) << 32));
        flipLow9To16 = (SECRET[3] ^ SECRET[4]) + seed;
        flipHigh9To16 = (SECRET[5] ^ SECRET[6]) - seed;
    }

    /** The function with this seed. Deriving its secret costs about as much as hashing one block: keep the instance. */
    public static Xxh3 seeded(long seed) {
        return new Xxh3(seed);
    }

    public long seed() {
        return seed;
    }

    /** Hashes 16 bytes: two longs, each little-endian. The step of a hash chain. */
    public long hash(long first, long second) {
        return from9To16(first, second, 16);
    }

    /** Hashes all of the bytes. */
    public long hash(byte[] in) {
        return hash(in, 0, in.length);
    }

    /**
     * Hashes {@code length} bytes from {@code from}.
     *
     * @throws IndexOutOfBoundsException if the range is not inside the array
     */
    public long hash(byte[] in, int from, int length) {
        Objects.checkFromIndexSize(from, length, in.length);
        if (length > 240) {
            return length <= 256 ? fourStripes(in, from, length) : manyStripes(in, from, length);
        }
        if (length > 128) {
            return upTo240(in, from, length);
        }
        if (length > 16) {
            return upTo128(in, from, length);
        }
        if (length > 8) {
            return from9To16(u64(in, from), u64(in, from + length - 8), length);
        }
        if (length >= 4) {
            return from4To8(u32(in, from), u32(in, from + length - 4), length);
        }
        if (length > 0) {
            int combined = (in[from] & 0xff) << 16
                    | (in[from + (length >> 1)] & 0xff) << 24
                    | (in[from + length - 1] & 0xff)
                    | length << 8;
            return avalanche64(Integer.toUnsignedLong(combined) ^ (Integer.toUnsignedLong(flip1To3) + seed));
        }
        return avalanche64(flipEmpty);
    }

    /**
     * Hashes {@code count} words from {@code from}, as if each were written as four little-endian bytes.
     *
     * @throws IndexOutOfBoundsException if the range is not inside the array
     */
    public long hash(int[] in, int from, int count) {
        Objects.checkFromIndexSize(from, count, in.length);
        if (count > 60) {
            return count <= 64 ? fourStripes(in, from, count) : manyStripes(in, from, count);
        }
        if (count > 32) {
            return upTo240(in, from, count);
        }
        if (count > 4) {
            return upTo128(in, from, count);
        }
        if (count > 2) {
            return from9To16(u64(in, from), u64(in, from + count - 2), count * 4);
        }
        if (count > 0) {
            return from4To8(in[from], in[from + count - 1], count * 4);
        }
        return avalanche64(flipEmpty);
    }

    // ---- inputs of up to 16 bytes, the same for both kinds

    private long from4To8(int first, int last, int length) {
        long h = (Integer.toUnsignedLong(last) + ((long) first << 32)) ^ flip4To8;
        h ^= Long.rotateLeft(h, 49) ^ Long.rotateLeft(h, 24);
        h *= 0x9FB21C651E98DF25L;
        h ^= (h >>> 35) + length;
        h *= 0x9FB21C651E98DF25L;
        return h ^ (h >>> 28);
    }

    private long from9To16(long first, long last, int length) {
        long low = first ^ flipLow9To16;
        long high = last ^ flipHigh9To16;
        return avalanche(length + Long.reverseBytes(low) + high + fold(low, high));
    }

    // ---- 32-bit words; positions and counts are in words

    private long upTo128(int[] in, int from, int count) {
        int end = from + count;
        long acc = count * 4L * PRIME64_1;
        if (count > 8) {
            if (count > 16) {
                if (count > 24) {
                    acc += fold(u64(in, from + 12) ^ derived[12], u64(in, from + 14) ^ derived[13]);
                    acc += fold(u64(in, end - 16) ^ derived[14], u64(in, end - 14) ^ derived[15]);
                }
                acc += fold(u64(in, from + 8) ^ k8, u64(in, from + 10) ^ k9);
                acc += fold(u64(in, end - 12) ^ derived[10], u64(in, end - 10) ^ derived[11]);
            }
            acc += fold(u64(in, from + 4) ^ k4, u64(in, from + 6) ^ k5);
            acc += fold(u64(in, end - 8) ^ k6, u64(in, end - 6) ^ k7);
        }
        acc += fold(u64(in, from) ^ k0, u64(in, from + 2) ^ k1);
        acc += fold(u64(in, end - 4) ^ k2, u64(in, end - 2) ^ k3);
        return avalanche(acc);
    }

    private long upTo240(int[] in, int from, int count) {
        long acc = count * 4L * PRIME64_1;
        for (int i = 0; i < 8; i++) {
            acc += fold(u64(in, from + 4 * i) ^ derived[2 * i], u64(in, from + 4 * i + 2) ^ derived[2 * i + 1]);
        }
        acc = avalanche(acc);
        for (int i = 8; i < count / 4; i++) {
            acc += foldOdd(u64(in, from + 4 * i), u64(in, from + 4 * i + 2), 16 * (i - 8) + 3);
        }
        return avalanche(acc + foldOdd(u64(in, from + count - 4), u64(in, from + count - 2), 119));
    }

    private long fourStripes(int[] in, int from, int count) {
        int end = from + count - 16;
        long acc = count * 4L * PRIME64_1;
        acc += pair(in, from, end, PRIME32_3, PRIME64_1, k0, k1, k2, k3, last0, last1, merge0, merge1);
        acc += pair(in, from + 4, end + 4, PRIME64_2, PRIME64_3, k2, k3, k4, k5, last2, last3, merge2, merge3);
        acc += pair(in, from + 8, end + 8, PRIME64_4, PRIME32_2, k4, k5, k6, k7, last4, last5, merge4, merge5);
        acc += pair(in, from + 12, end + 12, PRIME64_5, PRIME32_1, k6, k7, k8, k9, last6, last7, merge6, merge7);
        return avalanche(acc);
    }

    private static long pair(
            int[] in,
            int at,
            int lastAt,
            long a,
            long b,
            long s0,
            long s1,
            long s2,
            long s3,
            long l0,
            long l1,
            long m0,
            long m1) {
        long x = u64(in, at);
        long y = u64(in, at + 2);
        a += y + product(x ^ s0);
        b += x + product(y ^ s1);
        x = u64(in, at + 16);
        y = u64(in, at + 18);
        a += y + product(x ^ s1);
        b += x + product(y ^ s2);
        x = u64(in, at + 32);
        y = u64(in, at + 34);
        a += y + product(x ^ s2);
        b += x + product(y ^ s3);
        x = u64(in, lastAt);
        y = u64(in, lastAt + 2);
        a += y + product(x ^ l0);
        b += x + product(y ^ l1);
        return fold(a ^ m0, b ^ m1);
    }

    private long manyStripes(int[] in, int from, int count) {
        long acc = count * 4L * PRIME64_1;
        acc += pairs(in, from, count, 0, PRIME32_3, PRIME64_1, last0, last1, merge0, merge1);
        acc += pairs(in, from, count, 2, PRIME64_2, PRIME64_3, last2, last3, merge2, merge3);
        acc += pairs(in, from, count, 4, PRIME64_4, PRIME32_2, last4, last5, merge4, merge5);
        acc += pairs(in, from, count, 6, PRIME64_5, PRIME32_1, last6, last7, merge6, merge7);
        return avalanche(acc);
    }

    private long pairs(int[] in, int from, int count, int lane, long a, long b, long l0, long l1, long m0, long m1) {
        long[] k = derived;
        int at = from + 2 * lane;
        int stripes = (count - 1) / 16;
        int key = lane;
        for (int s = 0; s < stripes; s++) {
            long x = u64(in, at);
            long y = u64(in, at + 2);
            a += y + product(x ^ k[key]);
            b += x + product(y ^ k[key + 1]);
            at += 16;
            key++;
            if (key == lane + STRIPES_PER_BLOCK) {
                a = scramble(a, k[16 + lane]);
                b = scramble(b, k[17 + lane]);
                key = lane;
            }
        }
        long x = u64(in, from + count - 16 + 2 * lane);
        long y = u64(in, from + count - 14 + 2 * lane);
        a += y + product(x ^ l0);
        b += x + product(y ^ l1);
        return fold(a ^ m0, b ^ m1);
    }

    // ---- bytes; the same steps, positions and lengths in bytes

    private long upTo128(byte[] in, int from, int length) {
        int end = from + length;
        long acc = length * PRIME64_1;
        if (length > 32) {
            if (length > 64) {
                if (length > 96) {
                    acc += fold(u64(in, from + 48) ^ derived[12], u64(in, from + 56) ^ derived[13]);
                    acc += fold(u64(in, end - 64) ^ derived[14], u64(in, end - 56) ^ derived[15]);
                }
                acc += fold(u64(in, from + 32) ^ k8, u64(in, from + 40) ^ k9);
                acc += fold(u64(in, end - 48) ^ derived[10], u64(in, end - 40) ^ derived[11]);
            }
            acc += fold(u64(in, from + 16) ^ k4, u64(in, from + 24) ^ k5);
            acc += fold(u64(in, end - 32) ^ k6, u64(in, end - 24) ^ k7);
        }
        acc += fold(u64(in, from) ^ k0, u64(in, from + 8) ^ k1);
        acc += fold(u64(in, end - 16) ^ k2, u64(in, end - 8) ^ k3);
        return avalanche(acc);
    }

    private long upTo240(byte[] in, int from, int length) {
        long acc = length * PRIME64_1;
        for (int i = 0; i < 8; i++) {
            acc += fold(u64(in, from + 16 * i) ^ derived[2 * i], u64(in, from + 16 * i + 8) ^ derived[2 * i + 1]);
        }
        acc = avalanche(acc);
        for (int i = 8; i < length / 16; i++) {
            acc += foldOdd(u64(in, from + 16 * i), u64(in, from + 16 * i + 8), 16 * (i - 8) + 3);
        }
        return avalanche(acc + foldOdd(u64(in, from + length - 16), u64(in, from + length - 8), 119));
    }

    private long fourStripes(byte[] in, int from, int length) {
        int end = from + length - 64;
        long acc = length * PRIME64_1;
        acc += pair(in, from, end, PRIME32_3, PRIME64_1, k0, k1, k2, k3, last0, last1, merge0, merge1);
        acc += pair(in, from + 16, end + 16, PRIME64_2, PRIME64_3, k2, k3, k4, k5, last2, last3, merge2, merge3);
        acc += pair(in, from + 32, end + 32, PRIME64_4, PRIME32_2, k4, k5, k6, k7, last4, last5, merge4, merge5);
        acc += pair(in, from + 48, end + 48, PRIME64_5, PRIME32_1, k6, k7, k8, k9, last6, last7, merge6, merge7);
        return avalanche(acc);
    }

    private static long pair(
            byte[] in,
            int at,
            int lastAt,
            long a,
            long b,
            long s0,
            long s1,
            long s2,
            long s3,
            long l0,
            long l1,
            long m0,
            long m1) {
        long x = u64(in, at);
        long y = u64(in, at + 8);
        a += y + product(x ^ s0);
        b += x + product(y ^ s1);
        x = u64(in, at + 64);
        y = u64(in, at + 72);
        a += y + product(x ^ s1);
        b += x + product(y ^ s2);
        x = u64(in, at + 128);
        y = u64(in, at + 136);
        a += y + product(x ^ s2);
        b += x + product(y ^ s3);
        x = u64(in, lastAt);
        y = u64(in, lastAt + 8);
        a += y + product(x ^ l0);
        b += x + product(y ^ l1);
        return fold(a ^ m0, b ^ m1);
    }

    private long manyStripes(byte[] in, int from, int length) {
        long acc = length * PRIME64_1;
        acc += pairs(in, from, length, 0, PRIME32_3, PRIME64_1, last0, last1, merge0, merge1);
        acc += pairs(in, from, length, 2, PRIME64_2, PRIME64_3, last2, last3, merge2, merge3);
        acc += pairs(in, from, length, 4, PRIME64_4, PRIME32_2, last4, last5, merge4, merge5);
        acc += pairs(in, from, length, 6, PRIME64_5, PRIME32_1, last6, last7, merge6, merge7);
        return avalanche(acc);
    }

    private long pairs(byte[] in, int from, int length, int lane, long a, long b, long l0, long l1, long m0, long m1) {
        long[] k = derived;
        int at = from + 8 * lane;
        int stripes = (length - 1) / 64;
        int key = lane;
        for (int s = 0; s < stripes; s++) {
            long x = u64(in, at);
            long y = u64(in, at + 8);
            a += y + product(x ^ k[key]);
            b += x + product(y ^ k[key + 1]);
            at += 64;
            key++;
            if (key == lane + STRIPES_PER_BLOCK) {
                a = scramble(a, k[16 + lane]);
                b = scramble(b, k[17 + lane]);
                key = lane;
            }
        }
        long x = u64(in, from + length - 64 + 8 * lane);
        long y = u64(in, from + length - 56 + 8 * lane);
        a += y + product(x ^ l0);
        b += x + product(y ^ l1);
        return fold(a ^ m0, b ^ m1);
    }

    // ---- shared

    private static long product(long key) {
        return (key & 0xffffffffL) * (key >>> 32);
    }

    private static long scramble(long acc, long key) {
        return (acc ^ (acc >>> 47) ^ key) * PRIME32_1;
    }

    /** The xor of both halves of the unsigned 128-bit product. */
    private static long fold(long a, long b) {
        long high = Math.multiplyHigh(a, b) + ((a >> 63) & b) + ((b >> 63) & a);
        return (a * b) ^ high;
    }

    /** One 16-byte mix whose secret starts at an odd byte; there it is the default secret, with the seed added here. */
    private long foldOdd(long low, long high, int secretByte) {
        return fold(low ^ (at(SECRET, secretByte) + seed), high ^ (at(SECRET, secretByte + 8) - seed));
    }

    private static long avalanche(long h) {
        h ^= h >>> 37;
        h *= 0x165667919E3779F9L;
        return h ^ (h >>> 32);
    }

    private static long avalanche64(long h) {
        h ^= h >>> 33;
        h *= PRIME64_2;
        h ^= h >>> 29;
        h *= PRIME64_3;
        return h ^ (h >>> 32);
    }

    /** The long at a byte offset that is no multiple of 8. */
    private static long at(long[] secret, int byteOffset) {
        int word = byteOffset >>> 3;
        int shift = (byteOffset & 7) << 3;
        return (secret[word] >>> shift) | (secret[word + 1] << -shift);
    }

    private static long u64(int[] in, int at) {
        return (in[at] & 0xffffffffL) | ((long) in[at + 1] << 32);
    }

    private static long u64(byte[] in, int at) {
        return (long) LONGS.get(in, at);
    }

    private static int u32(byte[] in, int at) {
        return (int) INTS.get(in, at);
    }
}

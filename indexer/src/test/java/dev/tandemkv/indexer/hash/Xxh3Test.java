package dev.tandemkv.indexer.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import dev.tandemkv.catalog.time.SeededRandom;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class Xxh3Test {

    private static final long[] SEEDS = {0, 1, 1337, -1, Long.MIN_VALUE, 0x7ab77913e9c918d6L};

    @Test
    void hash_pinnedText_matches() {
        Xxh3 xxh3 = Xxh3.seeded(1337);
        assertThat(xxh3.hash("test data".getBytes(StandardCharsets.US_ASCII)))
                .isEqualTo(Long.parseUnsignedLong("13226331709069118873"));
        assertThat(xxh3.hash(new byte[0])).isEqualTo(0xd1f3e77444430ab9L);
        assertThat(xxh3.hash(new int[0], 0, 0)).isEqualTo(0xd1f3e77444430ab9L);
        assertThat(xxh3.seed()).isEqualTo(1337);
    }

    @Test
    void hash_bytesOfEveryLength_equalsOracle() {
        byte[] bytes = bytes(2 * 1024 + 300);
        for (long seed : SEEDS) {
            Hasher64 oracle = Hashing.xxh3_64(seed);
            Xxh3 xxh3 = Xxh3.seeded(seed);
            for (int length = 0; length <= bytes.length - 7; length++) {
                int from = length % 7;
                assertThat(xxh3.hash(bytes, from, length))
                        .as("seed %d length %d", seed, length)
                        .isEqualTo(oracle.hashBytesToLong(bytes, from, length));
            }
        }
    }

    @Test
    void hash_wordsOfEveryCount_equalsOracleOfTheirBytes() {
        byte[] bytes = bytes(4 * 1200);
        int[] words = new int[1200];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(words);
        for (long seed : SEEDS) {
            Hasher64 oracle = Hashing.xxh3_64(seed);
            Xxh3 xxh3 = Xxh3.seeded(seed);
            for (int count = 0; count <= words.length - 3; count++) {
                int from = count % 3;
                assertThat(xxh3.hash(words, from, count))
                        .as("seed %d count %d", seed, count)
                        .isEqualTo(oracle.hashBytesToLong(bytes, 4 * from, 4 * count));
            }
        }
    }

    @Test
    void hash_twoLongs_equalsTheirSixteenBytes() {
        SeededRandom random = new SeededRandom(5);
        Xxh3 xxh3 = Xxh3.seeded(1337);
        for (int i = 0; i < 1000; i++) {
            byte[] bytes = new byte[16];
            long a = random.nextLong();
            long b = random.nextLong();
            ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(a).putLong(b);
            assertThat(xxh3.hash(a, b)).isEqualTo(xxh3.hash(bytes));
        }
    }

    @Test
    void hash_rangeOutsideTheArray_isRefused() {
        Xxh3 xxh3 = Xxh3.seeded(0);
        assertThatThrownBy(() -> xxh3.hash(new int[4], 1, 4)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> xxh3.hash(new byte[4], -1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        new SeededRandom(length).nextBytes(bytes);
        return bytes;
    }
}

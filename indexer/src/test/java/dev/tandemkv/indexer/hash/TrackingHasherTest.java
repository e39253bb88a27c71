package dev.tandemkv.indexer.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.SeededRandom;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TrackingHasherTest {

    private static final PartitionKey PARTITION = new PartitionKey("model-a", "tenant-a");
    private static final HashedPrompt PROMPT = HashedPrompt.of(
                    IntStream.range(0, 12).toArray(), BlockHasher.ofBlockSize(4))
            .withScope(HashScope.of("adapter-a", "cache-a"));

    @Test
    void keyed_pinnedInput_matches() {
        assertThat(PROMPT.trackingHashes(keyed("2026-01", PARTITION)))
                .containsExactly(
                        4363769719052127296L,
                        Long.parseUnsignedLong("14998523962162619427"),
                        Long.parseUnsignedLong("13920914207884994756"));
    }

    @Test
    void keyed_anyFieldChanged_sharesNothing() {
        TrackingHasher keyed = keyed("2026-01", PARTITION);
        List<long[]> variants = List.of(
                PROMPT.trackingHashes(keyed),
                PROMPT.trackingHashes(keyed("2026-02", PARTITION)),
                PROMPT.trackingHashes(keyed("2026-01", new PartitionKey("model-b", "tenant-a"))),
                PROMPT.trackingHashes(keyed("2026-01", new PartitionKey("model-a", "tenant-b"))),
                PROMPT.trackingHashes(keyed("2026-01", new PartitionKey("model-atenant", "-a"))),
                PROMPT.withScope(HashScope.of("adapter-b", "cache-a")).trackingHashes(keyed),
                PROMPT.withScope(HashScope.of("", "cache-a")).trackingHashes(keyed),
                PROMPT.withScope(HashScope.of("cache-a", "adapter-a")).trackingHashes(keyed),
                PROMPT.withHasher(BlockHasher.ofBlockSize(4).withLookahead(1)).trackingHashes(keyed),
                PROMPT.trackingHashes(TrackingHasher.publicXxh3()));
        Set<Long> distinct = new HashSet<>();
        variants.forEach(v -> Arrays.stream(v).forEach(distinct::add));
        assertThat(distinct).hasSize(9 * 3 + 2);
    }

    @Test
    void publicScheme_isTheSequenceHashes() {
        assertThat(PROMPT.trackingHashes(TrackingHasher.publicXxh3()))
                .isEqualTo(PROMPT.hashes().sequences())
                .isNotSameAs(PROMPT.hashes().sequences());
    }

    @Test
    void unshared_samePromptTwice_sharesNothing() {
        TrackingHasher unshared = TrackingHasher.unshared(new SeededRandom(1));
        assertThat(PROMPT.trackingHashes(unshared)).hasSize(3).doesNotContain(PROMPT.trackingHashes(unshared));
    }

    @Test
    void keyed_badKey_isRefused() {
        assertThatThrownBy(() -> TrackingHasher.keyedXxh3(new byte[31], "id", PARTITION))
                .hasMessage("key: 31 bytes (expected: 32)");
        assertThatThrownBy(() -> TrackingHasher.keyedXxh3(new byte[32], "", PARTITION))
                .hasMessage("keyId: empty (expected: a name)");
    }

    /** Answers of the reference implementation (key bytes 0..31, message byte i = i mod 251), around every block and chunk border. */
    @Test
    void blake3_knownLengths_matchTheReference() {
        assertBlake3(0, "73492b19995d71cdb1e9d74decc09809eb732f1b00bc95c27cb15f9dd4d6478f");
        assertBlake3(1, "d08b45c6b127ee94f3f8527a0b82a5f80be1695a0eaec6022e772c0eb95a7e8b");
        assertBlake3(63, "e471df92f6f7dee100138af7da29695906b0dc34ccde2142a730dd4ebcbc09cc");
        assertBlake3(64, "cfaf838ff320e0d87301dcba02b1a4bb397d65119f57403df2817a51d4025f9b");
        assertBlake3(65, "d8a45528bfa93a0d9b7bf4c840b68f64af0b9ad3d0bbd6c1421c2a4cf1cdf3b4");
        assertBlake3(1023, "da1f18069871512af22af9f13dc005800dfd52c55f42753b5ae718086fe2ee44");
        assertBlake3(1024, "f45a9249a627fdf1fcf13c0e6376f6a9a9b2056d6e1b5693a4b119a3453665f9");
        assertBlake3(1025, "82223147a9b804a0c3f9a921b8d8aee250d1a51bb76be72152e6d5e8f27349b3");
        assertBlake3(2048, "636bfa717d4f9fc3e59da9b2e5cce6a2b78eb70469c0fce49da38b5419892423");
        assertBlake3(2049, "5442eec85e3fd173dcff07c39cd8cff9689f17224471e655618ed728cf03b056");
        assertBlake3(3073, "66eabf3a0a1a262221ee9eed633621a5065e4e73d098277c7de4162559edb9b4");
        assertBlake3(5120, "8bb4f2ab4db1d207713b4240105ec14d57452bc53073c480f8377279fa959a95");
        assertBlake3(7168, "fabe20ee334b76c0b7fe08a7592829f8493c150393c8532f9505d27a22574fab");
    }

    private static void assertBlake3(int length, String expected) {
        byte[] key = new byte[32];
        for (int i = 0; i < key.length; i++) {
            key[i] = (byte) i;
        }
        byte[] message = new byte[length];
        for (int i = 0; i < length; i++) {
            message[i] = (byte) (i % 251);
        }
        assertThat(HexFormat.of().formatHex(Blake3.keyed(key, message))).isEqualTo(expected);
    }

    private static TrackingHasher keyed(String keyId, PartitionKey partition) {
        byte[] key = new byte[32];
        Arrays.fill(key, (byte) 0x5a);
        return TrackingHasher.keyedXxh3(key, keyId, partition);
    }
}

package dev.tandemkv.indexer.hash;

import dev.tandemkv.catalog.PartitionKey;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.random.RandomGenerator;

/**
 * Which hashes the active-sequence ledger counts blocks by; the prefix index never sees them. Implementations are thread-safe (the
 * unshared one as far as its generator is).
 */
public sealed interface TrackingHasher
        permits TrackingHasher.PublicXxh3, TrackingHasher.KeyedXxh3, TrackingHasher.Unshared {

    /** One hash per complete block of the prompt. The array is the caller's. */
    long[] hash(HashedPrompt prompt);

    /** {@code public-xxh3-v1}, the default: the sequence hashes of the prompt themselves. */
    static TrackingHasher publicXxh3() {
        return new PublicXxh3();
    }

    /**
     * {@code keyed-xxh3-v1}: sequence hashes under seeds that only holders of a key can derive.
     *
     * @param key 32 bytes; copied
     * @param keyId names the key; not empty
     * @param partition model and routing group, which the seeds depend on
     */
    static TrackingHasher keyedXxh3(byte[] key, String keyId, PartitionKey partition) {
        return new KeyedXxh3(key, keyId, partition);
    }

    /** Where KV reuse is not assumed: a fresh random number per block, so that nothing is shared. */
    static TrackingHasher unshared(RandomGenerator random) {
        return new Unshared(random);
    }

    /** See {@link #publicXxh3}. */
    final class PublicXxh3 implements TrackingHasher {
        private PublicXxh3() {}

        @Override
        public long[] hash(HashedPrompt prompt) {
            return prompt.hashes().sequences().clone();
        }
    }

    /** See {@link #unshared}. */
    final class Unshared implements TrackingHasher {
        private final RandomGenerator random;

        private Unshared(RandomGenerator random) {
            this.random = Objects.requireNonNull(random, "random");
        }

        @Override
        public long[] hash(HashedPrompt prompt) {
            long[] hashes = new long[prompt.hasher().blocks(prompt.length())];
            for (int i = 0; i < hashes.length; i++) {
                hashes[i] = random.nextLong();
            }
            return hashes;
        }
    }

    /**
     * See {@link #keyedXxh3}. The block seed and the chain seed are the first two little-endian longs of keyed BLAKE3 over a domain text
     * and the framed fields key id, model, group, block size, namespace, adapter and eagle flag. Adapter and namespace are in the digest
     * and not added to the seed again. Eagle means a look-ahead of 1 or more. Compatible with Dynamo's kv-router of the same scheme name.
     */
    final class KeyedXxh3 implements TrackingHasher {
        private static final String DOMAIN = "dynamo.router.tracking-hash/keyed-xxh3-v1";

        private final byte[] key;
        private final String keyId;
        private final PartitionKey partition;

        private KeyedXxh3(byte[] key, String keyId, PartitionKey partition) {
            if (key.length != Blake3.KEY_LENGTH) {
                throw new IllegalArgumentException(
                        "key: " + key.length + " bytes (expected: " + Blake3.KEY_LENGTH + ")");
            }
            if (keyId.isEmpty()) {
                throw new IllegalArgumentException("keyId: empty (expected: a name)");
            }
            this.key = key.clone();
            this.keyId = keyId;
            this.partition = Objects.requireNonNull(partition, "partition");
        }

        @Override
        public long[] hash(HashedPrompt prompt) {
            BlockHasher hasher = prompt.hasher();
            ByteBuffer digest = ByteBuffer.wrap(Blake3.keyed(key, message(hasher, prompt.scope())))
                    .order(ByteOrder.LITTLE_ENDIAN);
            Xxh3 blocks = Xxh3.seeded(digest.getLong(0));
            Xxh3 chain = Xxh3.seeded(digest.getLong(8));
            long[] hashes = new long[hasher.blocks(prompt.length())];
            hasher.locals(prompt.tokens(), prompt.length(), blocks, prompt.objects(), hashes);
            BlockHasher.chain(hashes, hashes.length, chain, hashes);
            return hashes;
        }

        private byte[] message(BlockHasher hasher, HashScope scope) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            out.writeBytes(DOMAIN.getBytes(StandardCharsets.US_ASCII));
            out.write(0);
            framed(out, 1, keyId.getBytes(StandardCharsets.UTF_8));
            framed(out, 2, partition.modelName().getBytes(StandardCharsets.UTF_8));
            framed(out, 3, partition.routingGroup().getBytes(StandardCharsets.UTF_8));
            framed(out, 4, littleEndian(4).putInt(hasher.blockSize()).array());
            optional(out, 5, scope.cacheNamespace());
            optional(out, 6, scope.loraName());
            framed(out, 7, new byte[] {(byte) (hasher.lookahead() > 0 ? 1 : 0)});
            return out.toByteArray();
        }

        private static void optional(ByteArrayOutputStream out, int tag, String text) {
            out.write(tag);
            out.write(text.isEmpty() ? 0 : 1);
            if (!text.isEmpty()) {
                sized(out, text.getBytes(StandardCharsets.UTF_8));
            }
        }

        private static void framed(ByteArrayOutputStream out, int tag, byte[] bytes) {
            out.write(tag);
            sized(out, bytes);
        }

        private static void sized(ByteArrayOutputStream out, byte[] bytes) {
            out.writeBytes(littleEndian(8).putLong(bytes.length).array());
            out.writeBytes(bytes);
        }

        private static ByteBuffer littleEndian(int size) {
            return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        }
    }
}

package dev.tandemkv.indexer.health;

import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.BlockHashes;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.HashedPrompt;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * The hash self-check: known prompts must give known hashes. A router whose hashes differ from those of its engines' events finds nothing and
 * fails at nothing, so this is worth a few microseconds at start. Stateless, thread-safe.
 */
public final class HashParity {

    /**
     * A known answer.
     *
     * @param name what it checks
     * @param prompt tokens, geometry and scope
     * @param locals the local hash of each complete block
     */
    public record Vector(String name, HashedPrompt prompt, List<Long> locals) {
        public Vector {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(prompt, "prompt");
            locals = List.copyOf(locals);
        }

        private boolean holds() {
            return Arrays.equals(
                    prompt.hashes().locals(),
                    locals.stream().mapToLong(Long::longValue).toArray());
        }
    }

    private HashParity() {}

    /**
     * The library's own vectors: every length class of the hash function, adapter, namespace, both, a multimodal object, the eagle window, and
     * a chain. They are those of the public schemes, computed by another implementation.
     */
    public static List<Vector> builtIn() {
        HashScope both = HashScope.of("adapter-a", "tenant-a");
        return List.of(
                new Vector("16-byte block", prompt(4, 4), List.of(0x7ee2cbedc694ab46L)),
                new Vector("64-byte block", prompt(16, 16), List.of(0xd47a8f41c833328aL)),
                new Vector("128-byte block", prompt(32, 32), List.of(0x4fe4b52e3d3d116cL)),
                new Vector("256-byte block", prompt(64, 64), List.of(0x304d910e689e42bfL)),
                new Vector("512-byte block", prompt(128, 128), List.of(0x83f90a7debd4f39cL)),
                new Vector(
                        "several blocks",
                        prompt(16, 48),
                        List.of(0xd47a8f41c833328aL, 0xd43939178abd00dbL, 0x4cc8f942aaf401a2L)),
                new Vector(
                        "adapter", prompt(4, 4).withScope(HashScope.of("adapter-a", "")), List.of(0x5c7f6547f18918bfL)),
                new Vector(
                        "namespace",
                        prompt(4, 4).withScope(HashScope.of("", "tenant-a")),
                        List.of(0xec0e52f22b7e6f3eL)),
                new Vector("adapter and namespace", prompt(4, 4).withScope(both), List.of(0x72c338f32b821878L)),
                new Vector(
                        "multimodal objects",
                        prompt(4, 4).withObjects(MultimodalObjects.perBlock(List.of(new long[] {42, 7}))),
                        List.of(0x3f947f030b7556e3L)),
                new Vector(
                        "eagle window",
                        prompt(2, 6).withHasher(BlockHasher.ofBlockSize(2).withLookahead(1)),
                        List.of(0xa19fc43f5c330609L, 0x8a114bc20415acccL)));
    }

    private static HashedPrompt prompt(int blockSize, int tokens) {
        return HashedPrompt.of(IntStream.range(0, tokens).toArray(), BlockHasher.ofBlockSize(blockSize));
    }

    /**
     * The names of the vectors that do not hold. A host may add vectors of its own: prompts whose blocks its engines announced.
     */
    public static List<String> failures(List<Vector> vectors) {
        return vectors.stream().filter(v -> !v.holds()).map(Vector::name).toList();
    }

    /**
     * Checks the built-in vectors and the rolling hash.
     *
     * @throws IllegalStateException naming the vectors that do not hold: hashes of this process would match nothing
     */
    public static void verify() {
        List<String> failed = failures(builtIn());
        if (!failed.isEmpty()) {
            throw new IllegalStateException("block hashes: " + failed + " differ (expected: the known answers)");
        }
        long[] chain = {11, 0x0a6a804f4424ed91L, 0x2d3532837e12402dL};
        if (!Arrays.equals(BlockHashes.of(new long[] {11, 22, 33}).sequences(), chain)) {
            throw new IllegalStateException("sequence hashes: differ (expected: the known answers)");
        }
    }
}

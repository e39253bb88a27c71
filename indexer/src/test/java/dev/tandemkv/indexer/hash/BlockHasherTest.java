package dev.tandemkv.indexer.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.catalog.BadRequestException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BlockHasherTest {

    private static final long BLOCK_0_3 = 0x7ee2cbedc694ab46L;

    @Test
    void hash_knownBlocks_matchTheVectors() {
        assertThat(oneBlock(4, HashScope.BASE)).isEqualTo(BLOCK_0_3);
        assertThat(oneBlock(16, HashScope.BASE)).isEqualTo(0xd47a8f41c833328aL);
        assertThat(oneBlock(32, HashScope.BASE)).isEqualTo(0x4fe4b52e3d3d116cL);
        assertThat(oneBlock(64, HashScope.BASE)).isEqualTo(0x304d910e689e42bfL);
        assertThat(oneBlock(128, HashScope.BASE)).isEqualTo(0x83f90a7debd4f39cL);
    }

    @Test
    void hash_knownPrompts_matchTheVectors() {
        BlockHashes four = BlockHasher.ofBlockSize(4).hash(tokens(12), HashScope.BASE, MultimodalObjects.NONE);
        assertThat(four.locals()).containsExactly(BLOCK_0_3, 0xa8416cfd935bdb13L, 0x0f1aa342314b9384L);
        assertThat(four.sequences()).containsExactly(BLOCK_0_3, 0x83fb702f20e2ad65L, 0xebe58e326790467bL);
        BlockHashes sixteen = BlockHasher.ofBlockSize(16).hash(tokens(48), HashScope.BASE, MultimodalObjects.NONE);
        assertThat(sixteen.locals()).containsExactly(0xd47a8f41c833328aL, 0xd43939178abd00dbL, 0x4cc8f942aaf401a2L);
        assertThat(sixteen.sequences()).containsExactly(0xd47a8f41c833328aL, 0xbf15dffb16447f38L, 0xa4dda066f3c1e1a0L);
        assertThat(BlockHashes.of(new long[] {11, 22, 33}).sequences())
                .containsExactly(11, 0x0a6a804f4424ed91L, 0x2d3532837e12402dL);
    }

    @Test
    void scope_knownNames_matchTheVectors() {
        HashScope lora = HashScope.of("adapter-a", null);
        HashScope namespace = HashScope.of("", "tenant-a");
        HashScope both = HashScope.of("adapter-a", "tenant-a");
        assertThat(lora.seed()).isEqualTo(0x7ab77913e9c918d6L);
        assertThat(namespace.seed()).isEqualTo(0x1b095b6229544fb6L);
        assertThat(both.seed()).isEqualTo(0x95c0d476131d6353L);
        assertThat(oneBlock(4, lora)).isEqualTo(0x5c7f6547f18918bfL);
        assertThat(oneBlock(4, namespace)).isEqualTo(0xec0e52f22b7e6f3eL);
        assertThat(oneBlock(4, both)).isEqualTo(0x72c338f32b821878L);
    }

    @Test
    void scope_emptyNames_areTheBase() {
        assertThat(HashScope.of("", "")).isSameAs(HashScope.BASE);
        assertThat(HashScope.of(null, "")).isEqualTo(HashScope.BASE);
        assertThat(HashScope.of("x", "").seed())
                .isNotEqualTo(HashScope.of("", "x").seed())
                .isNotEqualTo(HashScope.BASE.seed());
        assertThat(HashScope.of("x", "")).isEqualTo(HashScope.of("x", null)).isNotEqualTo(HashScope.of("", "x"));
    }

    @Test
    void scope_toString_keepsTheSaltToItself() {
        assertThat(HashScope.of("adapter-a", "secret-salt").toString())
                .contains("adapter-a")
                .doesNotContain("secret-salt");
    }

    @Test
    void blocks_partialTail_yieldsNothing() {
        BlockHasher hasher = BlockHasher.ofBlockSize(16);
        assertThat(hasher.blocks(33)).isEqualTo(2);
        assertThat(hasher.blocks(17)).isEqualTo(1);
        assertThat(hasher.blocks(15)).isZero();
        assertThat(hasher.blocks(0)).isZero();
        assertThat(BlockHasher.ofBlockSize(0).blocks(100)).isZero();
        assertThat(hasher.hash(tokens(15), HashScope.BASE, MultimodalObjects.NONE))
                .isSameAs(BlockHashes.EMPTY);
    }

    @Test
    void geometry_negative_isRefused() {
        assertThatThrownBy(() -> BlockHasher.ofBlockSize(-1)).hasMessage("blockSize: -1 (expected: >= 0)");
        assertThatThrownBy(() -> BlockHasher.ofBlockSize(1).withLookahead(-1))
                .hasMessage("lookahead: -1 (expected: >= 0)");
    }

    @Test
    void multimodal_knownBlocks_matchTheVectorsInAnyOrder() {
        assertThat(withObjects(2, 42)).isEqualTo(0x54aaec7a8c6373dbL);
        assertThat(withObjects(4, 42, 7)).isEqualTo(0x3f947f030b7556e3L);
        assertThat(withObjects(4, 7, 42)).isEqualTo(0x3f947f030b7556e3L);
    }

    @Test
    void multimodal_topBitSet_sortsLast() {
        // The words of a block are hashed as they lie, so a block that spells out tokens and sorted objects is the same
        // block.
        int[] spelled = {0, 1, 7, 0, 0, 0x80000000};
        long expected = BlockHasher.ofBlockSize(6)
                .hash(spelled, HashScope.BASE, MultimodalObjects.NONE)
                .local(0);
        assertThat(withObjects(2, Long.MIN_VALUE, 7)).isEqualTo(expected);
    }

    @Test
    void multimodal_duplicates_count() {
        assertThat(withObjects(4, 7, 7)).isNotEqualTo(withObjects(4, 7));
    }

    @Test
    void multimodal_emptyListNullAndAbsent_areText() {
        BlockHasher hasher = BlockHasher.ofBlockSize(4);
        BlockHashes text = hasher.hash(tokens(12), HashScope.BASE, MultimodalObjects.NONE);
        MultimodalObjects none = MultimodalObjects.perBlock(Arrays.asList(new long[0], null));
        MultimodalObjects second = MultimodalObjects.perBlock(Arrays.asList(null, new long[] {9}));
        assertThat(hasher.hash(tokens(12), HashScope.BASE, none)).isEqualTo(text);
        BlockHashes changed = hasher.hash(tokens(12), HashScope.BASE, second);
        assertThat(changed.local(0)).isEqualTo(text.local(0));
        assertThat(changed.local(1)).isNotEqualTo(text.local(1));
        assertThat(changed.local(2)).isEqualTo(text.local(2));
    }

    @Test
    void kI4_imageInsideTheSecondBlock_onlyTheFirstBlockIsShared() {
        BlockHasher hasher = BlockHasher.ofBlockSize(4);
        BlockHashes cat = hasher.hash(
                tokens(12), HashScope.BASE, MultimodalObjects.perBlock(Arrays.asList(null, new long[] {1})));
        BlockHashes dog = hasher.hash(
                tokens(12), HashScope.BASE, MultimodalObjects.perBlock(Arrays.asList(null, new long[] {2})));
        assertThat(cat.sequence(0)).isEqualTo(dog.sequence(0));
        assertThat(cat.sequence(1)).isNotEqualTo(dog.sequence(1));
        assertThat(cat.sequence(2)).isNotEqualTo(dog.sequence(2));
    }

    @Test
    void identifier_knownTexts_matchTheVectors() {
        assertThat(MultimodalObjects.identifierHash("opaque-renderer-image-0")).hasValue(0xc85cacd6e51891a1L);
        assertThat(MultimodalObjects.identifierHash("0123456789abcdef".repeat(4)))
                .hasValue(0x0123456789abcdefL);
        assertThat(MultimodalObjects.identifierHash("F".repeat(64))).hasValue(-1);
        assertThat(MultimodalObjects.identifierHash("")).isEmpty();
        assertThat(MultimodalObjects.identifierHash("g".repeat(64)))
                .hasValue(MultimodalObjects.contentHash("g".repeat(64).getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void padValue_knownHashes_matchTheVectors() {
        assertThat(BlockHasher.padValue(0)).isEqualTo(1_000_000);
        assertThat(BlockHasher.padValue((1L << 30) + 0xCAFE)).isEqualTo(1_000_000 + 0xCAFE);
        assertThat(BlockHasher.padValue(Long.parseUnsignedLong("9533257059414191570")))
                .isEqualTo(49115154);
        int pad = 49115154;
        assertThat(BlockHasher.ofBlockSize(4)
                        .hash(new int[] {10, 20, pad, pad}, HashScope.BASE, MultimodalObjects.NONE)
                        .local(0))
                .isEqualTo(0x00ff601b9099dc2cL);
    }

    @Test
    void imageToken_runsBecomePadValues_lastObjectReused() {
        int image = 77;
        BlockHasher hasher = BlockHasher.ofBlockSize(8).withImageToken(image);
        MultimodalObjects two = MultimodalObjects.perBlock(List.of(new long[] {5, 3}));
        int[] placeholders = {image, image, 1, image, 2, image, image, 3};
        int a = BlockHasher.padValue(5);
        int b = BlockHasher.padValue(3);
        int[] padded = {a, a, 1, b, 2, b, b, 3};
        BlockHashes expected = BlockHasher.ofBlockSize(8).hash(padded, HashScope.BASE, MultimodalObjects.NONE);
        assertThat(hasher.hash(placeholders, HashScope.BASE, two)).isEqualTo(expected);
        assertThat(hasher.hash(padded, HashScope.BASE, two))
                .as("already normalised")
                .isEqualTo(expected);
        assertThat(hasher.hash(placeholders, HashScope.BASE, MultimodalObjects.NONE))
                .as("without objects the image id is untouched")
                .isEqualTo(BlockHasher.ofBlockSize(8).hash(placeholders, HashScope.BASE, MultimodalObjects.NONE));
    }

    @Test
    void imageToken_objectThatNoRunShows_stillTellsBlocksApart() {
        int image = 77;
        BlockHasher hasher = BlockHasher.ofBlockSize(4).withImageToken(image);
        int[] text = {1, 2, 3, 4};
        int[] oneRun = {1, image, image, 4};
        for (int[] tokens : new int[][] {text, oneRun}) {
            BlockHashes one =
                    hasher.hash(tokens, HashScope.BASE, MultimodalObjects.perBlock(List.of(new long[] {5, 8})));
            BlockHashes other =
                    hasher.hash(tokens, HashScope.BASE, MultimodalObjects.perBlock(List.of(new long[] {5, 9})));
            assertThat(one).isNotEqualTo(other);
        }
        assertThat(hasher.hash(text, HashScope.BASE, MultimodalObjects.perBlock(List.of(new long[] {5, 8}))))
                .isEqualTo(BlockHasher.ofBlockSize(4)
                        .hash(text, HashScope.BASE, MultimodalObjects.perBlock(List.of(new long[] {8, 5}))));
    }

    @Test
    void eagle_windowsOverlapByOne() {
        BlockHasher plain = BlockHasher.ofBlockSize(2);
        BlockHasher eagle = plain.withLookahead(1);
        assertThat(eagle.hash(tokens(6), HashScope.BASE, MultimodalObjects.NONE).locals())
                .containsExactly(0xa19fc43f5c330609L, 0x8a114bc20415acccL);
        assertThat(plain.hash(tokens(6), HashScope.BASE, MultimodalObjects.NONE).size())
                .isEqualTo(3);
        assertThat(plain.withLookahead(2).blocks(6)).isEqualTo(2);
        assertThat(plain.withLookahead(2).blocks(1)).isZero();
    }

    @Test
    void lookahead_blocksThatDifferBehindTheirEnd_differ() {
        BlockHasher hasher = BlockHasher.ofBlockSize(2).withLookahead(1);
        long a = hasher.hash(new int[] {1, 2, 3}, HashScope.BASE, MultimodalObjects.NONE)
                .local(0);
        long b = hasher.hash(new int[] {1, 2, 4}, HashScope.BASE, MultimodalObjects.NONE)
                .local(0);
        assertThat(a).isNotEqualTo(b);
    }

    @Test
    void kI1_andKI3_scopes_shareNothing() {
        BlockHasher hasher = BlockHasher.ofBlockSize(16);
        List<HashScope> scopes = List.of(
                HashScope.BASE,
                HashScope.of("a", ""),
                HashScope.of("b", ""),
                HashScope.of("", "a"),
                HashScope.of("", "s2"),
                HashScope.of("a", "a"));
        List<long[]> locals = scopes.stream()
                .map(s -> hasher.hash(tokens(128), s, MultimodalObjects.NONE).locals())
                .toList();
        for (int i = 0; i < scopes.size(); i++) {
            for (int j = 0; j < i; j++) {
                for (int block = 0; block < 8; block++) {
                    assertThat(locals.get(i)[block]).isNotEqualTo(locals.get(j)[block]);
                }
            }
        }
    }

    @Test
    void kF9_listsOfDifferentLength_areRefused() {
        assertThatThrownBy(() -> BlockHashes.of(new long[4], new long[3]))
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("sequenceHashes: 3");
    }

    @Test
    void blockHashes_callersArray_isCopied() {
        long[] locals = {1, 2};
        BlockHashes hashes = BlockHashes.of(locals);
        locals[0] = 9;
        assertThat(hashes.local(0)).isEqualTo(1);
        assertThat(hashes).isEqualTo(BlockHashes.of(new long[] {1, 2})).hasToString("BlockHashes[2 blocks]");
    }

    @Test
    void locals_intoCallersArray_equalsTheValueForm() {
        BlockHasher hasher = BlockHasher.ofBlockSize(16);
        long[] into = new long[8];
        assertThat(hasher.locals(tokens(100), 70, HashScope.BASE, MultimodalObjects.NONE, into))
                .isEqualTo(4);
        assertThat(Arrays.copyOf(into, 4))
                .isEqualTo(hasher.hash(tokens(70), HashScope.BASE, MultimodalObjects.NONE)
                        .locals());
    }

    private static long oneBlock(int blockSize, HashScope scope) {
        return BlockHasher.ofBlockSize(blockSize)
                .hash(tokens(blockSize), scope, MultimodalObjects.NONE)
                .local(0);
    }

    private static long withObjects(int blockSize, long... objects) {
        return BlockHasher.ofBlockSize(blockSize)
                .hash(tokens(blockSize), HashScope.BASE, MultimodalObjects.perBlock(List.of(objects)))
                .local(0);
    }

    private static int[] tokens(int count) {
        return IntStream.range(0, count).toArray();
    }
}

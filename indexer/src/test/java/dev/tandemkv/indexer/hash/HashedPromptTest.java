package dev.tandemkv.indexer.hash;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class HashedPromptTest {

    private static final int[] TOKENS = {0, 1, 2, 3, 4, 5};
    private static final HashedPrompt PROMPT = HashedPrompt.of(TOKENS, BlockHasher.ofBlockSize(2));

    @Test
    void hashes_askedTwice_areComputedOnce() {
        assertThat(PROMPT.hashes()).isSameAs(PROMPT.hashes());
        assertThat(PROMPT.hashes().size()).isEqualTo(3);
    }

    @Test
    void hashes_afterAnyChange_areThoseOfTheChange() {
        BlockHashes text = PROMPT.hashes();
        BlockHashes lora = PROMPT.withScope(HashScope.of("adapter-a", "")).hashes();
        BlockHashes image = PROMPT.withObjects(MultimodalObjects.perBlock(List.of(new long[] {42})))
                .hashes();
        BlockHashes eagle =
                PROMPT.withHasher(BlockHasher.ofBlockSize(2).withLookahead(1)).hashes();
        assertThat(lora.local(0)).isNotEqualTo(text.local(0));
        assertThat(image.local(0)).isEqualTo(0x54aaec7a8c6373dbL);
        assertThat(eagle.locals()).containsExactly(0xa19fc43f5c330609L, 0x8a114bc20415acccL);
        assertThat(PROMPT.hashes()).isSameAs(text);
    }

    @Test
    void with_sameValue_keepsTheHashes() {
        assertThat(PROMPT.withScope(HashScope.of(null, ""))).isSameAs(PROMPT);
        assertThat(PROMPT.withHasher(BlockHasher.ofBlockSize(2))).isSameAs(PROMPT);
        assertThat(PROMPT.withObjects(MultimodalObjects.NONE)).isSameAs(PROMPT);
    }

    @Test
    void of_callersArray_isCopied() {
        int[] tokens = TOKENS.clone();
        HashedPrompt prompt = HashedPrompt.of(tokens, BlockHasher.ofBlockSize(2));
        tokens[0] = 99;
        assertThat(prompt.hashes()).isEqualTo(PROMPT.hashes());
        assertThat(prompt).isEqualTo(PROMPT).hasSameHashCodeAs(PROMPT);
    }

    @Test
    void toString_holdsNoToken() {
        assertThat(HashedPrompt.of(new int[] {424242}, BlockHasher.ofBlockSize(1))
                        .toString())
                .doesNotContain("424242");
    }
}

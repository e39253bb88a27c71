package dev.tandemkv.adapters.tokenizer.huggingface;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.adapters.tokenizer.TokenizerException;
import dev.tandemkv.adapters.tokenizer.TokenizerException.Failure;
import org.junit.jupiter.api.Test;

class GuardedEncoderTest {

    private static GuardedEncoder giving(long... ids) {
        return new GuardedEncoder(new Encoder() {
            @Override
            public long[] encode(String text, SpecialTokens special) {
                return ids;
            }

            @Override
            public void close() {}
        });
    }

    @Test
    void encode_idsAreUnsigned32Bit_othersAreRefused() {
        try (GuardedEncoder encoder = giving(0, 7, 0xFFFF_FFFFL)) {
            assertThat(encoder.encode("", SpecialTokens.NONE)).containsExactly(0, 7, -1);
        }
        for (long id : new long[] {-1, 1L << 32}) {
            try (GuardedEncoder encoder = giving(id)) {
                assertThatThrownBy(() -> encoder.encode("", SpecialTokens.NONE))
                        .isInstanceOfSatisfying(
                                TokenizerException.class,
                                e -> assertThat(e.failure()).isEqualTo(Failure.UPSTREAM));
            }
        }
    }

    @Test
    void encode_afterClose_isUnavailable() {
        GuardedEncoder encoder = giving(1);
        encoder.close();

        assertThatThrownBy(() -> encoder.encode("", SpecialTokens.NONE))
                .isInstanceOfSatisfying(
                        TokenizerException.class, e -> assertThat(e.failure()).isEqualTo(Failure.UNAVAILABLE));
    }
}

package dev.tandemkv.indexer.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.HashedPrompt;
import java.util.List;
import org.junit.jupiter.api.Test;

class HashParityTest {

    @Test
    void kI8_builtInVectors_holdInThisProcess() {
        assertThatCode(HashParity::verify).doesNotThrowAnyException();
        assertThat(HashParity.failures(HashParity.builtIn())).isEmpty();
    }

    @Test
    void failures_nameTheVectorsOfAnotherScheme() {
        HashedPrompt prompt = HashedPrompt.of(new int[] {0, 1, 2, 3}, BlockHasher.ofBlockSize(4));
        assertThat(HashParity.failures(List.of(
                        new HashParity.Vector("same", prompt, List.of(0x7ee2cbedc694ab46L)),
                        new HashParity.Vector(
                                "salted", prompt.withScope(HashScope.of("", "s")), List.of(0x7ee2cbedc694ab46L)),
                        new HashParity.Vector("geometry", prompt, List.of(0x7ee2cbedc694ab46L, 1L)))))
                .containsExactly("salted", "geometry");
    }
}

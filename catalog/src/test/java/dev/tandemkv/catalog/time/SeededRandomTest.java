package dev.tandemkv.catalog.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SeededRandomTest {

    /** The published first values of SplitMix64 for seed 0. */
    @Test
    void nextLong_seedZero_isThePublishedSequence() {
        SeededRandom random = new SeededRandom(0);
        assertThat(random.nextLong()).isEqualTo(0xE220A8397B1DCDAFL);
        assertThat(random.nextLong()).isEqualTo(0x6E789E6AA1B965F4L);
        assertThat(random.nextLong()).isEqualTo(0x06C45D188009454FL);
        assertThat(random.nextLong()).isEqualTo(0xF88BB8A8724C81ECL);
    }

    @Test
    void everyForm_sameSeed_isTheSame() {
        SeededRandom a = new SeededRandom(42);
        SeededRandom b = new SeededRandom(42);
        for (int i = 0; i < 100; i++) {
            assertThat(a.nextInt(7)).isEqualTo(b.nextInt(7)).isBetween(0, 6);
            assertThat(a.nextLong(1L << 40)).isEqualTo(b.nextLong(1L << 40)).isBetween(0L, (1L << 40) - 1);
            assertThat(a.nextDouble()).isEqualTo(b.nextDouble()).isBetween(0.0, 1.0);
            assertThat(a.nextBoolean()).isEqualTo(b.nextBoolean());
            assertThat(a.nextInt()).isEqualTo(b.nextInt());
        }
    }

    @Test
    void nextInt_smallBound_reachesEveryValueEvenly() {
        SeededRandom random = new SeededRandom(1);
        int[] counts = new int[3];
        for (int i = 0; i < 30_000; i++) {
            counts[random.nextInt(3)]++;
        }
        for (int count : counts) {
            assertThat(count).isBetween(9_500, 10_500);
        }
    }

    @Test
    void bounds_notPositive_areRefused() {
        SeededRandom random = new SeededRandom(1);
        assertThatThrownBy(() -> random.nextInt(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> random.nextLong(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThat(random.nextInt(1)).isZero();
    }

    @Test
    void mix_isInjectiveOnASample() {
        Set<Long> seen = new HashSet<>();
        for (long i = 0; i < 10_000; i++) {
            assertThat(seen.add(SeededRandom.mix(i))).isTrue();
        }
    }
}

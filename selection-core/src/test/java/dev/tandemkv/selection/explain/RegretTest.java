package dev.tandemkv.selection.explain;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RegretTest {

    @Test
    void snapshot_sumsWhatWasGivenUp() {
        Regret regret = new Regret();
        regret.record(8, 24, 0);
        Regret.Snapshot before = regret.snapshot();
        regret.record(24, 24, 1.5);
        regret.record(0, 2, 0.25);
        Regret.Snapshot all = regret.snapshot();
        assertThat(all).isEqualTo(new Regret.Snapshot(3, 32, 50, 2, 1.75));
        assertThat(all.lostBlocks()).isEqualTo(18);
        assertThat(all.minus(before)).isEqualTo(new Regret.Snapshot(2, 24, 26, 1, 1.75));
    }
}

package dev.tandemkv.testkit.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {

    @Test
    void toText_wordsAndFigures_setsFiguresFlushRight() {
        Table table = new Table(
                List.of("policy", "TTFT", "open"),
                List.of(List.of("round-robin", "4,821", "0"), List.of("kv", "92", "0")));

        assertThat(table.toText()).isEqualTo("""
                        policy        TTFT  open
                        -----------  -----  ----
                        round-robin  4,821     0
                        kv              92     0
                        """);
    }

    @Test
    void toText_noRows_isHeadingsOnly() {
        assertThat(new Table(List.of("a"), List.of()).toText()).isEqualTo("a\n-\n");
    }

    @Test
    void table_rowOfAnotherLength_isRefused() {
        assertThatThrownBy(() -> new Table(List.of("a", "b"), List.of(List.of("1"))))
                .hasMessageContaining("rows[0]: 1 cells (expected: 2)");
    }
}

package dev.tandemkv.indexer.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MailboxTest {

    private final Mailbox mailbox = new Mailbox();
    private final List<String> ran = new ArrayList<>();

    @Test
    void run_insideAStep_runsAfterIt() {
        mailbox.run(() -> {
            mailbox.run(() -> ran.add("inner"));
            ran.add("outer");
        });
        assertThat(ran).containsExactly("outer", "inner");
    }

    @Test
    void run_afterAStepThatFailed_evenWithAnError_goesOn() {
        mailbox.run(() -> {
            throw new IllegalStateException("on purpose");
        });
        mailbox.run(() -> {
            throw new AssertionError("on purpose");
        });
        mailbox.run(() -> ran.add("next"));
        assertThat(ran).containsExactly("next");
        assertThat(mailbox.depth()).isZero();
        assertThat(mailbox.isOwner()).isFalse();
    }
}

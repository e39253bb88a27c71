package dev.tandemkv.selection.internal.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MailboxTest {

    private final Mailbox mailbox = new Mailbox(new Afterwards(null));
    private final List<String> order = new ArrayList<>();

    @Test
    void afterwards_runsOnceTheMailboxWasLeft() {
        mailbox.run(() -> {
            mailbox.afterwards(() -> order.add(mailbox.call(() -> "free again")));
            order.add("inside");
        });
        assertThat(order).containsExactly("inside", "free again");
    }

    @Test
    void call_fromInside_refused() {
        assertThatThrownBy(() -> mailbox.run(() -> mailbox.call(() -> 1))).isInstanceOf(IllegalStateException.class);
        assertThat(mailbox.<Integer>call(() -> 2)).isEqualTo(2);
    }

    @Test
    void submit_fromInside_runsBeforeTheMailboxIsLeft() {
        mailbox.run(() -> {
            mailbox.submit(() -> order.add("second"));
            order.add("first");
        });
        assertThat(order).containsExactly("first", "second");
    }

    @Test
    void submittedWorkThatThrows_doesNotKeepTheMailbox() {
        mailbox.run(() -> mailbox.submit(() -> {
            throw new IllegalStateException("of another caller");
        }));
        assertThat(mailbox.<Integer>call(() -> 3)).isEqualTo(3);
    }

    @Test
    void completionsOfCompletions_runOneAfterTheOther() {
        mailbox.run(() -> mailbox.afterwards(() -> {
            mailbox.run(() -> mailbox.afterwards(() -> order.add("inner")));
            order.add("outer");
        }));
        assertThat(order).containsExactly("outer", "inner");
    }
}

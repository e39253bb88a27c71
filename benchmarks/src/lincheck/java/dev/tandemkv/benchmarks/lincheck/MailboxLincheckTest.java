package dev.tandemkv.benchmarks.lincheck;

import dev.tandemkv.selection.internal.partition.Afterwards;
import dev.tandemkv.selection.internal.partition.Mailbox;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * Claim: work of the partition step takes effect one at a time, in an order that agrees with real time, whether it was called or only left in the mailbox;
 * and when everybody has gone home, all of it has run, and its completions outside.
 *
 * <p>Guards against: a lost wake-up (work offered while the last one leaves stays behind), two combiners inside at once, work of one thread overtaking its
 * earlier work, completions that run inside or twice.
 */
@Param(name = "digit", gen = IntGen.class, conf = "1:9")
public class MailboxLincheckTest {

    private final Mailbox mailbox = new Mailbox(new Afterwards(null));
    /** Plain on purpose: the mailbox is all that guards it. Its digits are the order in which work ran. */
    private int digits;

    private final AtomicInteger left = new AtomicInteger();
    private final AtomicInteger completed = new AtomicInteger();

    @Operation(params = "digit")
    public void submit(int digit) {
        left.incrementAndGet();
        mailbox.submit(() -> append(digit));
    }

    @Operation(params = "digit")
    public int call(int digit) {
        left.incrementAndGet();
        return mailbox.call(() -> append(digit));
    }

    private int append(int digit) {
        // A completion may call in again, which it could not from inside.
        mailbox.afterwards(() -> completed.addAndGet(mailbox.call(() -> 1)));
        digits = digits * 10 + digit;
        return digits;
    }

    @Validate
    public void nothingStayedBehind() {
        if (completed.get() != left.get()) {
            throw new IllegalStateException(completed + " of " + left + " completed");
        }
    }

    /** One at a time, at once. */
    public static class Sequential {
        private int digits;

        public void submit(int digit) {
            digits = digits * 10 + digit;
        }

        public int call(int digit) {
            digits = digits * 10 + digit;
            return digits;
        }
    }

    @Test
    void modelChecked() {
        new ModelCheckingOptions()
                .iterations(5)
                .invocationsPerIteration(500)
                .threads(3)
                .actorsBefore(0)
                .actorsPerThread(2)
                .actorsAfter(1)
                .sequentialSpecification(Sequential.class)
                .check(MailboxLincheckTest.class);
    }

    @Test
    void stressed() {
        new StressOptions()
                .iterations(10)
                .invocationsPerIteration(2_000)
                .threads(3)
                .actorsBefore(0)
                .actorsPerThread(2)
                .actorsAfter(1)
                .sequentialSpecification(Sequential.class)
                .check(MailboxLincheckTest.class);
    }
}

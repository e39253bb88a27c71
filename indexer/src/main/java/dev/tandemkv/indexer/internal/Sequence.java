package dev.tandemkv.indexer.internal;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The counter by which lock-free readers notice that they raced with the writer: odd while the writer changes something that a reader can reach.
 *
 * <p>The writer (one at a time) brackets such changes with {@link #begin} and {@link #end}, and a section is tens of nanoseconds. Everything written
 * after a {@code begin}, inside or outside the section, becomes visible no earlier than the odd value, so slots and arrays that a section
 * unlinked may be overwritten after it. A reader takes {@link #read}, walks with plain reads whatever garbage it may meet, and trusts the result only
 * if {@link #unchanged} still holds.
 */
final class Sequence {

    private static final VarHandle VALUE;

    static {
        try {
            VALUE = MethodHandles.lookup().findVarHandle(Sequence.class, "value", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private long value;

    void begin() {
        VALUE.setOpaque(this, value + 1);
        VarHandle.storeStoreFence();
    }

    void end() {
        VALUE.setRelease(this, value + 1);
    }

    /** The present value; odd while a section is open. */
    long read() {
        return (long) VALUE.getAcquire(this);
    }

    boolean unchanged(long since) {
        VarHandle.loadLoadFence();
        return (long) VALUE.getOpaque(this) == since;
    }
}

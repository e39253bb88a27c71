package dev.tandemkv.indexer.event;

import java.util.OptionalLong;

/**
 * How far one rank's event stream has been applied, and what the next number therefore means. Initial (nothing applied) or live at the
 * number last applied. Not thread-safe.
 *
 * <p>It remembers the last number heard live apart from the last number applied. Only live numbers can move backwards: what a replay
 * delivers is older by nature and never means a new publisher.
 */
public final class EventCursor {

    /** What a number means at this point of the stream. */
    public enum Observation {
        /** The first number; nothing was applied before. */
        INITIAL,
        /** The number after the last one applied. */
        CONTIGUOUS,
        /** Numbers from {@link EventCursor#next()} on are missing before it. */
        GAP,
        /** Already applied, or a repeat of the number heard last: to be ignored. */
        STALE,
        /** Lower than the number heard live before it: a new publisher. The cursor is initial again. */
        RESTART
    }

    private boolean live;
    private long applied;
    private boolean heard;
    private long lastHeard;

    private EventCursor() {}

    /** Nothing applied. */
    public static EventCursor initial() {
        return new EventCursor();
    }

    /** Everything up to this number applied, for example by a snapshot; nothing heard live. */
    public static EventCursor liveAt(long applied) {
        EventCursor cursor = new EventCursor();
        cursor.advanceTo(applied);
        return cursor;
    }

    /** Judges a number that arrived live, and remembers it as heard. */
    public Observation observeLive(long got) {
        if (heard && Long.compareUnsigned(got, lastHeard) < 0) {
            live = false;
            lastHeard = got;
            return Observation.RESTART;
        }
        boolean repeated = heard && got == lastHeard;
        heard = true;
        lastHeard = got;
        return repeated ? Observation.STALE : judge(got);
    }

    /** Judges a number that a replay delivered. Never {@link Observation#RESTART}. */
    public Observation observeReplayed(long got) {
        return judge(got);
    }

    private Observation judge(long got) {
        if (!live) {
            return Observation.INITIAL;
        }
        if (Long.compareUnsigned(got, applied) <= 0) {
            return Observation.STALE;
        }
        return got == applied + 1 ? Observation.CONTIGUOUS : Observation.GAP;
    }

    /** Everything up to this number is applied, or given up. */
    public void advanceTo(long number) {
        live = true;
        applied = number;
    }

    /** Back to the start of a stream; the number heard last stays known. */
    public void reset() {
        live = false;
    }

    /** Forgets the number heard last: what comes next may be another publisher's, which something else than numbers will tell. */
    public void forgetHeard() {
        heard = false;
    }

    /** The number last applied; none while initial. */
    public OptionalLong position() {
        return live ? OptionalLong.of(applied) : OptionalLong.empty();
    }

    /**
     * The number that comes after the last one applied.
     *
     * @throws IllegalStateException while initial
     */
    public long next() {
        if (!live) {
            throw new IllegalStateException("cursor: initial (expected: live)");
        }
        return applied + 1;
    }

    @Override
    public String toString() {
        return live ? "Live(" + Long.toUnsignedString(applied) + ')' : "Initial";
    }
}

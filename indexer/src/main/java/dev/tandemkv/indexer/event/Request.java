package dev.tandemkv.indexer.event;

import org.jspecify.annotations.Nullable;

/**
 * What a rank's source is asked for. Immutable.
 *
 * @param from first number wanted
 * @param round how often this was asked for
 * @param target number of a live batch that must be reached, if one is known
 * @param highest highest number that any reply brought, if one did
 * @param unfilled whether part of what was asked for was given up already
 */
record Request(
        Kind kind,
        long from,
        int round,
        @Nullable Long target,
        @Nullable Long highest,
        boolean unfilled) {

    enum Kind {
        REPLAY,
        /** A replay that has to begin with a batch that is known: so its publisher is recognised. */
        VERIFY,
        /** The whole content. */
        RESYNC
    }

    static Request replay(long from, @Nullable Long target) {
        return new Request(Kind.REPLAY, from, 1, target, null, false);
    }

    static Request verify(BatchMark known) {
        return new Request(Kind.VERIFY, known.sequence(), 1, null, null, false);
    }

    static Request resync(long from) {
        return new Request(Kind.RESYNC, from, 1, null, null, false);
    }

    /** The same once more. */
    Request again() {
        return new Request(kind, from, round + 1, target, highest, unfilled);
    }

    /** What is missing after a reply, asked for once more. */
    Request next(long firstMissing) {
        return new Request(Kind.REPLAY, firstMissing, round + 1, target, highest, unfilled);
    }

    /** With what a reply brought. */
    Request after(@Nullable Long nowHighest, boolean nowUnfilled) {
        return new Request(kind, from, round, target, nowHighest, nowUnfilled);
    }
}

package dev.tandemkv.selection.internal.replica;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The workers of one partition that peers ask for and that are not answered yet: each once, however many ask, and a bounded number. Whoever
 * adds the {@linkplain Added#FIRST first} sees to it that all are taken. They are taken before what is booked is looked at, so an ask that
 * comes later begins anew. Thread-safe.
 */
final class OpenAsks {

    /** What became of an ask. */
    enum Added {
        /** Nothing waited: whoever added it sees to the answer. */
        FIRST,
        /** Answered together with the first. */
        COLLECTED,
        /** Not kept, because too many wait: whoever asked it answers by itself. */
        FULL
    }

    private final int most;
    /** Guarded by this. */
    private Set<Long> workers = new LinkedHashSet<>();

    OpenAsks(int most) {
        this.most = most;
    }

    synchronized Added add(long workerId) {
        if (workers.isEmpty()) {
            workers.add(workerId);
            return Added.FIRST;
        }
        if (workers.size() < most || workers.contains(workerId)) {
            workers.add(workerId);
            return Added.COLLECTED;
        }
        return Added.FULL;
    }

    /** All that wait, which the caller answers. */
    synchronized Set<Long> take() {
        Set<Long> taken = workers;
        workers = new LinkedHashSet<>();
        return taken;
    }
}

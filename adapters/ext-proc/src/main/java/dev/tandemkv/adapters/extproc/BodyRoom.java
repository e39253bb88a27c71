package dev.tandemkv.adapters.extproc;

import java.util.concurrent.atomic.AtomicLong;

/** How many bytes of request bodies one picker holds, never more than its limit. Any thread. */
final class BodyRoom {

    private final long limit;
    private final AtomicLong held = new AtomicLong();

    BodyRoom(long limit) {
        this.limit = limit;
    }

    boolean take(int bytes) {
        long before;
        do {
            before = held.get();
            if (bytes > limit - before) {
                return false;
            }
        } while (!held.compareAndSet(before, before + bytes));
        return true;
    }

    void give(int bytes) {
        held.addAndGet(-bytes);
    }

    long held() {
        return held.get();
    }
}

package dev.tandemkv.adapters.zmq.mesh;

import java.util.function.BooleanSupplier;

/**
 * Waits for what must happen; the limit of the test is the only bound. The condition is looked at without the lock: it may wait for a thread that
 * is about to tell of a change.
 */
final class Signal {

    /** Not everything that is waited for tells when it changes. */
    private static final long LOOK_AGAIN_MILLIS = 5;

    private long changes;

    synchronized void changed() {
        changes++;
        notifyAll();
    }

    private synchronized long seen() {
        return changes;
    }

    void await(BooleanSupplier condition) throws InterruptedException {
        for (long before = seen(); !condition.getAsBoolean(); before = seen()) {
            awaitChange(before);
        }
    }

    private synchronized void awaitChange(long before) throws InterruptedException {
        if (changes == before) {
            wait(LOOK_AGAIN_MILLIS);
        }
    }
}

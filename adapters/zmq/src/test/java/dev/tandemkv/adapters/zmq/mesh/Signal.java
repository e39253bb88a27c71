package dev.tandemkv.adapters.zmq.mesh;

import java.util.function.BooleanSupplier;

/** Waits for what must happen; the limit of the test is the only bound. */
final class Signal {

    /** Not everything that is waited for tells when it changes. */
    private static final long LOOK_AGAIN_MILLIS = 5;

    synchronized void changed() {
        notifyAll();
    }

    synchronized void await(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            wait(LOOK_AGAIN_MILLIS);
        }
    }
}

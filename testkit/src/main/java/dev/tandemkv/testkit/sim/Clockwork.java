package dev.tandemkv.testkit.sim;

import dev.tandemkv.catalog.time.VirtualTime;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * What happens when: the agenda of the engines and requests, woven with whatever the code under test has scheduled in virtual time. At one
 * instant, the tasks of the code under test run first, then {@link Kind}s in their order.
 */
final class Clockwork {

    /** After the last entry, tasks of the code under test may still have to run, but not for ever. */
    private static final long PATIENCE_NANOS = Duration.ofHours(1).toNanos();

    /** What can happen; at one instant, the lower rank first. */
    enum Kind {
        KV_EVENT(0),
        ITERATION_END(1),
        TRANSFER_END(2),
        ARRIVAL(3),
        SUBMIT(4),
        ENGINE_START(5);

        private static final Kind[] BY_RANK = values();

        private final int rank;

        Kind(int rank) {
            this.rank = rank;
        }
    }

    /** Carries an event out. */
    interface Handler {
        void handle(Kind kind, int payload);
    }

    private final VirtualTime time;
    private final EventHeap heap = new EventHeap();

    Clockwork(VirtualTime time) {
        this.time = time;
    }

    long now() {
        return time.read();
    }

    void at(long tick, Kind kind, int payload) {
        heap.add(tick, kind.rank, payload);
    }

    void now(Kind kind, int payload) {
        at(now(), kind, payload);
    }

    /** Runs until nothing is left to happen and {@code done} says so, or nothing can happen any more. */
    void run(Handler handler, BooleanSupplier done) {
        while (true) {
            runAgenda(handler);
            long end = now() + PATIENCE_NANOS;
            while (heap.isEmpty() && !done.getAsBoolean() && now() < end && time.runNext()) {
                // Only the code under test has something left to do: a queue's timer, say.
            }
            if (heap.isEmpty()) {
                return;
            }
        }
    }

    private void runAgenda(Handler handler) {
        while (!heap.isEmpty()) {
            long tick = heap.headTime();
            if (tick > now()) {
                time.advance(Duration.ofNanos(tick - now()));
                if (heap.headTime() < tick) {
                    continue;
                }
            }
            Kind kind = Kind.BY_RANK[heap.headKind()];
            int payload = heap.headPayload();
            heap.removeHead();
            handler.handle(kind, payload);
        }
    }
}

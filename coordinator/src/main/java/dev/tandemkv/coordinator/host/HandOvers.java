package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.internal.GuardedObserver;
import dev.tandemkv.selection.BookingId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;

/**
 * The hand-overs that have not ended. Mints their ids, so that no caller can make two live ones collide, fails those of a removed worker,
 * and carries out the engine family's {@link DisconnectPolicy}. Thread-safe; the map holds only what has not ended, and everything staged
 * ends by its deadline. What is still open ends with its prefill leg: whoever opened it reports that leg's failure.
 */
public final class HandOvers {

    private final Map<Long, HandOver> live = new ConcurrentHashMap<>();
    private final DisconnectPolicy disconnectPolicy;
    private final Duration deadline;
    private final HandOverPort port;
    private final Scheduler scheduler;
    private final Object randomLock = new Object();
    private final RandomGenerator random;

    /**
     * @param disconnectPolicy what the engine family does with staged KV of a client that left
     * @param deadline how long staged KV waits for decode, from its last part on; usually 30 s
     * @param port acts on engines
     * @param scheduler runs the deadlines
     * @param random mints ids
     */
    public HandOvers(
            DisconnectPolicy disconnectPolicy,
            Duration deadline,
            HandOverPort port,
            Scheduler scheduler,
            RandomGenerator random) {
        this.disconnectPolicy = Objects.requireNonNull(disconnectPolicy, "disconnectPolicy");
        this.deadline = Objects.requireNonNull(deadline, "deadline");
        this.port = Objects.requireNonNull(port, "port");
        this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
        this.random = Objects.requireNonNull(random, "random");
        if (deadline.isNegative() || deadline.isZero()) {
            throw new IllegalArgumentException("deadline: " + deadline + " (expected: positive)");
        }
    }

    /** A hand-over of one part from a worker with one rank. */
    public HandOver open(BookingId prefill) {
        return open(prefill, 1, 1);
    }

    /**
     * @param prefill booking of the prefill leg
     * @param parts results expected, one for each prefill engine that takes part; at least 1
     * @param rankCount ranks of the prefill worker; the id modulo this is the booked rank, as SGLang's bootstrap rooms need it
     * @throws ConflictException if no free id was found in 16 draws
     */
    public HandOver open(BookingId prefill, int parts, int rankCount) {
        if (parts < 1) {
            throw new IllegalArgumentException("parts: " + parts + " (expected: >= 1)");
        }
        if (rankCount < 1 || Integer.toUnsignedLong(prefill.worker().rank()) >= rankCount) {
            throw new IllegalArgumentException(
                    "rankCount: " + rankCount + " (expected: above rank " + prefill.worker() + ')');
        }
        for (int draw = 0; draw < 16; draw++) {
            HandOver handOver = new HandOver(this, mint(prefill.worker().rank(), rankCount), prefill, parts);
            if (live.putIfAbsent(handOver.id(), handOver) == null) {
                return handOver;
            }
        }
        throw new ConflictException("hand-over", "minted 16 times", "every draw is live");
    }

    private long mint(int rank, int rankCount) {
        long drawn;
        synchronized (randomLock) {
            drawn = random.nextLong() >>> 2;
        }
        return drawn / rankCount * rankCount + rank;
    }

    /** Fails every hand-over whose prefill worker was removed. */
    public void workerRemoved(long workerId) {
        live.values().stream()
                .filter(handOver -> handOver.prefill().worker().workerId() == workerId)
                .forEach(HandOver::workerRemoved);
    }

    /** What has not ended, in no order. */
    public List<HandOver> live() {
        return List.copyOf(live.values());
    }

    Scheduler scheduler() {
        return scheduler;
    }

    Duration deadline() {
        return deadline;
    }

    DisconnectPolicy disconnectPolicy() {
        return disconnectPolicy;
    }

    void cancelled(HandOver handOver) {
        GuardedObserver.guard(() -> port.cancelPrefill(handOver));
        ended(handOver);
    }

    void cleanedUp(HandOver handOver) {
        GuardedObserver.guard(() -> port.cleanUp(handOver));
        ended(handOver);
    }

    void ended(HandOver handOver) {
        live.remove(handOver.id(), handOver);
        GuardedObserver.guard(() -> port.ended(handOver));
    }
}

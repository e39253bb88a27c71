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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;

/**
 * The hand-overs of one engine family that have not ended. Mints their ids, so that no caller can make two live ones collide, fails those
 * of a removed worker, and carries out the family's {@link DisconnectPolicy}. Thread-safe; the map holds only what has not ended, and
 * everything staged ends by its deadline. What is still open ends with its prefill leg: whoever opened it reports that leg's failure.
 */
public final class HandOvers {

    private final Map<Long, HandOver> live = new ConcurrentHashMap<>();
    /** Counted before a hand-over is added and after it is removed, so that the limit cannot be overrun. */
    private final AtomicInteger count = new AtomicInteger();

    private final DisconnectPolicy disconnectPolicy;
    private final Duration deadline;
    private final Duration disconnectBound;
    private final int maxLive;
    private final HandOverPort port;
    private final Scheduler scheduler;
    private final Object randomLock = new Object();
    private final RandomGenerator random;

    private HandOvers(Builder b) {
        disconnectPolicy = b.disconnectPolicy;
        deadline = b.deadline;
        disconnectBound = b.disconnectBound;
        maxLive = b.maxLive;
        port = b.port;
        scheduler = b.scheduler;
        random = b.random;
    }

    /**
     * @param disconnectPolicy what the engine family does with staged KV of a client that left
     * @param port acts on engines
     * @param scheduler runs the deadlines
     * @param random mints ids; used by one thread at a time
     */
    public static Builder builder(
            DisconnectPolicy disconnectPolicy, HandOverPort port, Scheduler scheduler, RandomGenerator random) {
        return new Builder(disconnectPolicy, port, scheduler, random);
    }

    /** Collects the options; not thread-safe. */
    public static final class Builder {
        private final DisconnectPolicy disconnectPolicy;
        private final HandOverPort port;
        private final Scheduler scheduler;
        private final RandomGenerator random;
        private Duration deadline = Duration.ofSeconds(30);
        private Duration disconnectBound = Duration.ofMinutes(2);
        private int maxLive = 1_000_000;

        private Builder(
                DisconnectPolicy disconnectPolicy, HandOverPort port, Scheduler scheduler, RandomGenerator random) {
            this.disconnectPolicy = Objects.requireNonNull(disconnectPolicy, "disconnectPolicy");
            this.port = Objects.requireNonNull(port, "port");
            this.scheduler = Objects.requireNonNull(scheduler, "scheduler");
            this.random = Objects.requireNonNull(random, "random");
        }

        /** How long staged KV waits for decode, from its last part on. Default 30 s. */
        public Builder deadline(Duration deadline) {
            this.deadline = requirePositive("deadline", deadline);
            return this;
        }

        /** How long staged KV waits at most once its client has left. Default 120 s. */
        public Builder disconnectBound(Duration disconnectBound) {
            this.disconnectBound = requirePositive("disconnectBound", disconnectBound);
            return this;
        }

        /** How many may be live at once. Default 1,000,000. */
        public Builder maxLive(int maxLive) {
            if (maxLive < 1) {
                throw new IllegalArgumentException("maxLive: " + maxLive + " (expected: >= 1)");
            }
            this.maxLive = maxLive;
            return this;
        }

        public HandOvers build() {
            return new HandOvers(this);
        }

        private static Duration requirePositive(String name, Duration value) {
            if (Objects.requireNonNull(value, name).isNegative() || value.isZero()) {
                throw new IllegalArgumentException(name + ": " + value + " (expected: positive)");
            }
            return value;
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
     * @throws RequestLimitException if as many are live as may be
     */
    public HandOver open(BookingId prefill, int parts, int rankCount) {
        if (parts < 1) {
            throw new IllegalArgumentException("parts: " + parts + " (expected: >= 1)");
        }
        if (rankCount < 1 || Integer.toUnsignedLong(prefill.worker().rank()) >= rankCount) {
            throw new IllegalArgumentException(
                    "rankCount: " + rankCount + " (expected: above rank " + prefill.worker() + ')');
        }
        if (count.incrementAndGet() > maxLive) {
            count.decrementAndGet();
            throw new RequestLimitException(maxLive);
        }
        for (int draw = 0; draw < 16; draw++) {
            HandOver handOver = new HandOver(this, mint(prefill.worker().rank(), rankCount), prefill, parts);
            if (live.putIfAbsent(handOver.id(), handOver) == null) {
                return handOver;
            }
        }
        count.decrementAndGet();
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

    Duration disconnectBound() {
        return disconnectBound;
    }

    void cancelPrefill(HandOver handOver) {
        GuardedObserver.guard(() -> port.cancelPrefill(handOver));
    }

    void cleanUp(HandOver handOver) {
        GuardedObserver.guard(() -> port.cleanUp(handOver));
    }

    void ended(HandOver handOver) {
        if (live.remove(handOver.id(), handOver)) {
            count.decrementAndGet();
        }
        GuardedObserver.guard(() -> port.ended(handOver));
    }
}

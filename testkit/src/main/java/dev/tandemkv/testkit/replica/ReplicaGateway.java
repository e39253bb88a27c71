package dev.tandemkv.testkit.replica;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.RankLoad;
import dev.tandemkv.selection.ReplicaStats;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SelectionCore;
import dev.tandemkv.selection.SessionContext;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.host.ReplicaChannel;
import dev.tandemkv.selection.host.Replication;
import dev.tandemkv.selection.host.SelectionHost;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * A core on a channel, with the same {@value #WORKERS} workers as every other, that remembers what it has booked. Checks each decision: it
 * names a worker that may be chosen. Thread-safe.
 */
public final class ReplicaGateway implements AutoCloseable {

    /** Workers of each gateway, numbered from 1. */
    public static final int WORKERS = 8;

    private static final int BLOCK = 16;

    /** Not everything that is waited for tells when it changes. */
    private static final long LOOK_AGAIN_MILLIS = 5;

    private final ReplicaChannel channel;
    private final SelectionCore core;
    private final Map<String, Booking> own = new ConcurrentHashMap<>();
    private final Ticker ticker = Ticker.system();
    /** One for each batch of peers' messages that was applied and not looked at yet. */
    private final Semaphore changes = new Semaphore(0);

    /**
     * @param channel stays the caller's to close, after this
     * @param orphanTimeout how long a peer's booking is believed without a word
     */
    public ReplicaGateway(ReplicaChannel channel, Scheduler scheduler, Duration orphanTimeout) {
        this.channel = channel;
        core = SelectionCore.builder()
                .config(SelectionConfig.builder()
                        .replicaSync(true)
                        .sessionAffinityTtl(Duration.ofMinutes(10))
                        .replicaOrphanTimeout(orphanTimeout)
                        .build())
                .host(SelectionHost.builder()
                        .replication(Replication.over(channel)
                                .withObserver((partition, queued, applied) -> changes.release()))
                        .build())
                .scheduler(scheduler)
                .build();
        for (long id = 1; id <= WORKERS; id++) {
            core.upsert(WorkerSpec.builder(id)
                    .endpoint("10.0.0." + id + ":8000")
                    .blockSize(BLOCK)
                    .build());
        }
    }

    public ReplicaChannel channel() {
        return channel;
    }

    public SelectionCore core() {
        return core;
    }

    public ReplicaStats replicaStats() {
        return core.replicaStats().orElseThrow();
    }

    // ---- booking

    /** Books for a session and answers where. */
    public WorkerRank book(String id, String session) {
        return book(id, session, Set.of());
    }

    /** @param allowed workers to choose from; all if empty */
    public WorkerRank book(String id, String session, Set<Long> allowed) {
        SelectRequest request = request(id, session)
                .selectionId(id)
                .allowedWorkerIds(allowed.isEmpty() ? null : allowed)
                .build();
        Booking booking = core.selectAndReserve(request).toCompletableFuture().join();
        own.put(id, booking);
        return legal(booking.id().worker(), allowed);
    }

    /** Where a request of a session would go, without booking. */
    public WorkerRank look(String prompt, String session) {
        return legal(
                core.select(request(prompt, session).build())
                        .toCompletableFuture()
                        .join()
                        .worker(),
                Set.of());
    }

    private static SelectRequest.Builder request(String seed, String session) {
        int[] tokens = new int[4 * BLOCK];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = (seed.hashCode() + i) & Integer.MAX_VALUE;
        }
        return SelectRequest.builder(Prompt.ofTokens(tokens)).session(SessionContext.of(session));
    }

    private static WorkerRank legal(WorkerRank chosen, Set<Long> allowed) {
        boolean known = chosen.workerId() >= 1 && chosen.workerId() <= WORKERS && chosen.rank() == 0;
        if (!known || !(allowed.isEmpty() || allowed.contains(chosen.workerId()))) {
            throw new AssertionError("chose " + chosen + " of " + (allowed.isEmpty() ? WORKERS + " workers" : allowed));
        }
        return chosen;
    }

    /** Frees what was booked here under an id. */
    public void free(String id) {
        Booking booking = own.remove(id);
        if (booking == null) {
            throw new IllegalArgumentException("id: " + id + " (expected: booked here)");
        }
        booking.close();
    }

    /** Frees all that was booked here. */
    public void freeAll() {
        own.keySet().forEach(this::free);
    }

    // ---- what is counted

    /** Bookings on all workers, peers' included. */
    public int counted() {
        return counted(load -> true);
    }

    /** Bookings on one, peers' included. */
    public int counted(WorkerRank on) {
        return counted(load -> load.worker().equals(on));
    }

    private int counted(Predicate<RankLoad> of) {
        List<RankLoad> loads = core.loads(PartitionKey.DEFAULT).orElseThrow().loads();
        return loads.stream().filter(of).mapToInt(RankLoad::activeRequests).sum();
    }

    /** Whether it comes to count exactly so many bookings within the time given. */
    public boolean comesToCount(int bookings, Duration patience) {
        return comesTrue(() -> counted() == bookings, patience);
    }

    /**
     * Whether something comes true within the time given. It is looked at without a lock: it may wait for a thread that is about to tell of a
     * change.
     */
    public boolean comesTrue(BooleanSupplier condition, Duration patience) {
        long until = ticker.read() + patience.toNanos();
        while (!condition.getAsBoolean()) {
            if (ticker.read() - until >= 0 || !awaitChange()) {
                return false;
            }
        }
        return true;
    }

    private boolean awaitChange() {
        try {
            if (changes.tryAcquire(LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS)) {
                changes.drainPermits();
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Closes the core, which keeps its bookings. */
    @Override
    public void close() {
        core.close();
    }
}

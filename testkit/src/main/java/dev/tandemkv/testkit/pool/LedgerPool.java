package dev.tandemkv.testkit.pool;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerLifecycle;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.ChargeOutcome;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.NoEligibleWorkerException;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The smallest pool that keeps the contract: fixed workers, no cache, the least loaded one wins, and a ledger that tests can read. A model
 * for custom pools, and the fast inner pool of the soak.
 *
 * <p>A worker costs the blocks booked on it, plus the prompt's blocks still to be prefilled there. Every call answers at once. Thread-safe:
 * one lock guards the ledger.
 */
public final class LedgerPool implements SelectionPool {

    private final int blockSize;
    private final Map<Long, WorkerSpec> workers = new HashMap<>();
    private final Object lock = new Object();
    private final Map<String, Held> bookings = new HashMap<>();
    private final Map<Long, Long> blocks = new HashMap<>();
    private final Map<Long, Long> prefillTokens = new HashMap<>();
    private long attempts;

    /** @param workers rank 0 of each is served; the block size is that of the first, or 16 */
    public LedgerPool(List<WorkerSpec> workers) {
        workers.forEach(spec -> this.workers.put(spec.workerId(), spec));
        Integer first = workers.isEmpty() ? null : workers.get(0).blockSize();
        blockSize = first == null ? 16 : first;
    }

    /** Ids of the live bookings. */
    public Set<String> liveIds() {
        synchronized (lock) {
            return Set.copyOf(bookings.keySet());
        }
    }

    public int liveBookings() {
        synchronized (lock) {
            return bookings.size();
        }
    }

    /** Prefill tokens booked on a worker. */
    public long prefillTokens(long workerId) {
        synchronized (lock) {
            return prefillTokens.getOrDefault(workerId, 0L);
        }
    }

    /** Blocks booked on a worker. */
    public long blocks(long workerId) {
        synchronized (lock) {
            return blocks.getOrDefault(workerId, 0L);
        }
    }

    @Override
    public CompletionStage<Selection> select(SelectRequest request) {
        synchronized (lock) {
            return chosen(request)
                    .map(spec ->
                            (CompletionStage<Selection>) CompletableFuture.completedFuture(selection(request, spec)))
                    .orElseGet(() -> CompletableFuture.failedFuture(nobody(request)));
        }
    }

    @Override
    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        String id = request.selectionId();
        synchronized (lock) {
            String key = id == null ? "generated-" + (attempts + 1) : id;
            if (bookings.containsKey(key)) {
                return CompletableFuture.failedFuture(new ConflictException("selection id", key, "is live"));
            }
            WorkerSpec spec = chosen(request).orElse(null);
            if (spec == null) {
                return CompletableFuture.failedFuture(nobody(request));
            }
            Held held =
                    new Held(new BookingId(key, WorkerRank.of(spec.workerId()), ++attempts), selection(request, spec));
            bookings.put(key, held);
            held.add(
                    blocksOf(request), tracksPrefill(request) ? request.prompt().islTokens() : 0);
            return CompletableFuture.completedFuture(held);
        }
    }

    @Override
    public CompletionStage<FreeOutcome> free(Booking booking) {
        synchronized (lock) {
            Held held = bookings.get(booking.id().selectionId());
            return CompletableFuture.completedFuture(
                    held != null && held.id.equals(booking.id()) ? remove(held) : FreeOutcome.ALREADY_GONE);
        }
    }

    @Override
    public CompletionStage<FreeOutcome> free(String selectionId) {
        synchronized (lock) {
            Held held = bookings.get(selectionId);
            return CompletableFuture.completedFuture(held == null ? FreeOutcome.ALREADY_GONE : remove(held));
        }
    }

    private FreeOutcome remove(Held held) {
        bookings.remove(held.id.selectionId());
        held.add(-held.blocks, -held.prefill);
        return FreeOutcome.FREED;
    }

    @Override
    public CompletionStage<Void> prefillComplete(Booking booking) {
        booking.prefillComplete();
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<ChargeOutcome> chargePrefill(Booking booking) {
        synchronized (lock) {
            Held held = bookings.get(booking.id().selectionId());
            if (held != null && held.id.equals(booking.id()) && held.prefill == 0) {
                held.add(0, held.selection.effectivePrefillTokens());
            }
            return CompletableFuture.completedFuture(ChargeOutcome.CHARGED);
        }
    }

    @Override
    public CompletionStage<Void> touch(Booking booking) {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
        return CompletableFuture.completedFuture(Optional.ofNullable(workers.get(workerId))
                .filter(spec -> spec.partition().equals(partition))
                .map(LedgerPool::record));
    }

    @Override
    public CompletionStage<Optional<List<RankScore>>> score(SelectRequest request) {
        synchronized (lock) {
            List<RankScore> scores = new ArrayList<>();
            for (WorkerSpec spec : workers.values()) {
                if (eligible(spec, request)) {
                    scores.add(new RankScore(WorkerRank.of(spec.workerId()), cost(spec, request), record(spec)));
                }
            }
            return CompletableFuture.completedFuture(Optional.of(scores));
        }
    }

    private static WorkerRecord record(WorkerSpec spec) {
        return new WorkerRecord(spec, WorkerLifecycle.SCHEDULABLE, List.of());
    }

    private static NoEligibleWorkerException nobody(SelectRequest request) {
        return new NoEligibleWorkerException(request.partition(), Map.of());
    }

    private Optional<WorkerSpec> chosen(SelectRequest request) {
        return workers.values().stream()
                .filter(spec -> eligible(spec, request))
                .min(Comparator.<WorkerSpec>comparingDouble(spec -> cost(spec, request))
                        .thenComparing(WorkerSpec::workerId, Long::compareUnsigned));
    }

    private static boolean eligible(WorkerSpec spec, SelectRequest request) {
        Set<Long> allowed = request.allowedWorkerIds();
        WorkerRank pin = request.pinnedWorker();
        return spec.partition().equals(request.partition())
                && (allowed == null || allowed.contains(spec.workerId()))
                && !request.excludedWorkerIds().contains(spec.workerId())
                && (pin == null || pin.equals(WorkerRank.of(spec.workerId())))
                && request.constraints().requiredTaints().stream().allMatch(spec::carries);
    }

    private double cost(WorkerSpec spec, SelectRequest request) {
        double load = blocks.getOrDefault(spec.workerId(), 0L) + blocksOf(request);
        double prefill = tracksPrefill(request)
                ? (prefillTokens.getOrDefault(spec.workerId(), 0L)
                                + request.prompt().islTokens())
                        / (double) blockSize
                : 0;
        double preferred = request.constraints().preferredTaints().entrySet().stream()
                .filter(e -> spec.carries(e.getKey()))
                .mapToDouble(Map.Entry::getValue)
                .sum();
        return (load + prefill) * Math.exp(-Math.tanh(preferred));
    }

    private Selection selection(SelectRequest request, WorkerSpec spec) {
        return Selection.builder(request.partition(), WorkerRank.of(spec.workerId()))
                .selectionId(request.selectionId())
                .endpoint(spec.endpoint())
                .blockSize(blockSize)
                .islTokens(request.prompt().islTokens())
                .effectivePrefillTokens(request.prompt().islTokens())
                .potentialDecodeBlocks(blocks.getOrDefault(spec.workerId(), 0L) + blocksOf(request))
                .trackPrefillTokens(tracksPrefill(request))
                .build();
    }

    private long blocksOf(SelectRequest request) {
        return (request.prompt().islTokens() + blockSize - 1) / blockSize;
    }

    private static boolean tracksPrefill(SelectRequest request) {
        return !Boolean.FALSE.equals(request.override().trackPrefillTokens());
    }

    /** One booking; its figures are guarded by the pool's lock. */
    private final class Held implements Booking {
        private final BookingId id;
        private final Selection selection;
        private long blocks;
        private long prefill;

        Held(BookingId id, Selection selection) {
            this.id = id;
            this.selection = selection;
        }

        void add(long moreBlocks, long morePrefill) {
            blocks += moreBlocks;
            prefill += morePrefill;
            long worker = id.worker().workerId();
            LedgerPool.this.blocks.merge(worker, moreBlocks, Long::sum);
            prefillTokens.merge(worker, morePrefill, Long::sum);
        }

        private boolean isLive() {
            return bookings.get(id.selectionId()) == this;
        }

        @Override
        public BookingId id() {
            return id;
        }

        @Override
        public Selection selection() {
            return selection;
        }

        @Override
        public void prefillComplete() {
            synchronized (lock) {
                if (isLive()) {
                    add(0, -prefill);
                }
            }
        }

        @Override
        public void addOutputBlocks(int more) {
            synchronized (lock) {
                if (isLive()) {
                    add(more, 0);
                }
            }
        }

        @Override
        public void addOutputBlocks(int more, double remainingFraction) {
            addOutputBlocks(more);
        }

        @Override
        public void close() {
            synchronized (lock) {
                if (isLive()) {
                    remove(this);
                }
            }
        }
    }
}

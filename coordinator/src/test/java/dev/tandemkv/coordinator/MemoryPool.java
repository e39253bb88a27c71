package dev.tandemkv.coordinator;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.WorkerLifecycle;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.ChargeOutcome;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.NoEligibleWorkerException;
import dev.tandemkv.selection.OverloadedException;
import dev.tandemkv.selection.PoolUnavailableException;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import dev.tandemkv.selection.WorkerLoad;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A small pool with a ledger that tests read and a script of faults. Cost of a worker: its booked prefill tokens and the uncached rest of
 * the prompt where prefill is tracked, minus cached blocks times the credit, plus its decode blocks; ties go to the lowest id. One test thread
 * scripts it; calls may come from several.
 */
public final class MemoryPool implements SelectionPool {

    public static final int BLOCK = 16;

    /** What happens to the next call of an operation. */
    public enum Fault {
        /** Fails and does nothing. */
        FAIL,
        /** Does it, and answers that the outcome is unknown. */
        LOSE_REPLY,
        /** Does nothing yet and answers when {@link MemoryPool#resume} is called. */
        HANG,
        /** Does it at once, and answers when {@link MemoryPool#resume} is called. */
        SLOW_REPLY,
        /** Answers {@code null}. */
        NULL_REPLY,
        /** Does it and breaks before there is a stage. */
        THROW_AFTER
    }

    private final Map<Long, WorkerSpec> workers = new LinkedHashMap<>();
    private final Map<Long, Integer> cachedBlocks = new HashMap<>();
    private final Map<Long, Integer> baseDecodeBlocks = new HashMap<>();
    private final Map<String, Held> bookings = new LinkedHashMap<>();
    private final Map<String, Deque<Object>> script = new ConcurrentHashMap<>();
    private final List<Runnable> suspended = new ArrayList<>();
    public final Set<Long> overloaded = new HashSet<>();
    public final List<SelectRequest> selects = new CopyOnWriteArrayList<>();
    public final List<SelectRequest> reserves = new CopyOnWriteArrayList<>();
    public final List<String> frees = new CopyOnWriteArrayList<>();
    public final List<BookingId> touches = new ArrayList<>();
    private long attempts;
    private boolean charges = true;
    private boolean scores;
    private boolean reportsLoad = true;
    private Runnable duringFree = () -> {};

    public MemoryPool worker(WorkerSpec.Builder spec) {
        WorkerSpec built = spec.build();
        workers.put(built.workerId(), built);
        return this;
    }

    public MemoryPool worker(long id) {
        return worker(WorkerSpec.builder(id)
                .endpoint("host" + id + ":8000")
                .blockSize(BLOCK)
                .totalKvBlocks(1000L));
    }

    public void remove(long id) {
        workers.remove(id);
    }

    public MemoryPool cached(long id, int blocks) {
        cachedBlocks.put(id, blocks);
        return this;
    }

    public MemoryPool decodeLoad(long id, int blocks) {
        baseDecodeBlocks.put(id, blocks);
        return this;
    }

    public MemoryPool canScore() {
        scores = true;
        return this;
    }

    public MemoryPool cannotCharge() {
        charges = false;
        return this;
    }

    public MemoryPool hidesLoad() {
        reportsLoad = false;
        return this;
    }

    /** Scripts the next call of {@code select, reserve, free, prefillComplete, workerRecord, charge, score}; scripts queue up. */
    public MemoryPool next(String operation, Fault fault) {
        script.computeIfAbsent(operation, o -> new ArrayDeque<>()).add(fault);
        return this;
    }

    public MemoryPool next(String operation, SelectionException failure) {
        script.computeIfAbsent(operation, o -> new ArrayDeque<>()).add(failure);
        return this;
    }

    public MemoryPool always(String operation, Fault fault) {
        for (int i = 0; i < 100; i++) {
            next(operation, fault);
        }
        return this;
    }

    /** Runs inside each free by instance. */
    public void duringFree(Runnable work) {
        duringFree = work;
    }

    /** Loses a booking, as a pool does that restarts. */
    public void forget(String selectionId) {
        synchronized (bookings) {
            bookings.remove(selectionId);
        }
    }

    /** Forgets every scripted fault. */
    public void heal() {
        script.clear();
    }

    public void resume() {
        List<Runnable> now = List.copyOf(suspended);
        suspended.clear();
        now.forEach(Runnable::run);
    }

    /** Answers the call that has waited longest. */
    public void resumeFirst() {
        suspended.remove(0).run();
    }

    public int live() {
        synchronized (bookings) {
            return bookings.size();
        }
    }

    public Set<String> liveIds() {
        synchronized (bookings) {
            return Set.copyOf(bookings.keySet());
        }
    }

    /** Booked prefill tokens of all workers. */
    public long prefillTokens() {
        synchronized (bookings) {
            return bookings.values().stream().mapToLong(b -> b.prefillTokens).sum();
        }
    }

    public long prefillTokens(long worker) {
        synchronized (bookings) {
            return bookings.values().stream()
                    .filter(b -> b.id.worker().workerId() == worker)
                    .mapToLong(b -> b.prefillTokens)
                    .sum();
        }
    }

    private <T> CompletionStage<T> run(String operation, Supplier<T> work) {
        Deque<Object> queued = script.get(operation);
        Object fault = queued == null ? null : queued.poll();
        if (fault == null) {
            return answer(work);
        }
        if (fault instanceof SelectionException failure) {
            return CompletableFuture.failedFuture(failure);
        }
        switch ((Fault) fault) {
            case FAIL -> {
                return CompletableFuture.failedFuture(new PoolUnavailableException(operation, "scripted", null));
            }
            case LOSE_REPLY -> {
                answer(work);
                return CompletableFuture.failedFuture(new PoolUnavailableException(operation, "lost reply", null));
            }
            case NULL_REPLY -> {
                answer(work);
                return CompletableFuture.completedFuture(null);
            }
            case THROW_AFTER -> {
                answer(work);
                throw new AssertionError("scripted");
            }
            case HANG -> {
                CompletableFuture<T> later = new CompletableFuture<>();
                suspended.add(() -> relay(answer(work), later));
                return later;
            }
            case SLOW_REPLY -> {
                CompletableFuture<T> later = new CompletableFuture<>();
                CompletionStage<T> done = answer(work);
                suspended.add(() -> relay(done, later));
                return later;
            }
        }
        throw new AssertionError(fault);
    }

    private static <T> void relay(CompletionStage<T> from, CompletableFuture<T> to) {
        from.whenComplete((value, failure) -> {
            if (failure == null) {
                to.complete(value);
            } else {
                to.completeExceptionally(failure);
            }
        });
    }

    private static <T> CompletionStage<T> answer(Supplier<T> work) {
        try {
            return CompletableFuture.completedFuture(work.get());
        } catch (SelectionException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override
    public CompletionStage<Selection> select(SelectRequest request) {
        selects.add(request);
        return run("select", () -> choose(request));
    }

    @Override
    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
        reserves.add(request);
        return run("reserve", () -> {
            synchronized (bookings) {
                String id = String.valueOf(request.selectionId());
                if (bookings.containsKey(id)) {
                    throw new ConflictException("selection id", id, "is live");
                }
                Selection chosen = choose(request);
                Held held = new Held(new BookingId(id, chosen.worker(), ++attempts), chosen);
                held.prefillTokens = tracksPrefill(request) ? chosen.effectivePrefillTokens() : 0;
                held.decodeBlocks = blocks(request);
                bookings.put(id, held);
                return held;
            }
        });
    }

    @Override
    public CompletionStage<FreeOutcome> free(Booking booking) {
        frees.add(booking.id().selectionId());
        duringFree.run();
        return run("free", () -> {
            synchronized (bookings) {
                return bookings.remove(booking.id().selectionId(), booking)
                        ? FreeOutcome.FREED
                        : FreeOutcome.ALREADY_GONE;
            }
        });
    }

    @Override
    public CompletionStage<FreeOutcome> free(String selectionId) {
        frees.add("by id " + selectionId);
        return run("free", () -> {
            synchronized (bookings) {
                return bookings.remove(selectionId) != null ? FreeOutcome.FREED : FreeOutcome.ALREADY_GONE;
            }
        });
    }

    @Override
    public CompletionStage<Void> prefillComplete(Booking booking) {
        return this.<Void>run("prefillComplete", () -> {
            ((Held) booking).prefillTokens = 0;
            return null;
        });
    }

    @Override
    public CompletionStage<ChargeOutcome> chargePrefill(Booking booking) {
        return run("charge", () -> {
            if (!charges) {
                return ChargeOutcome.UNSUPPORTED;
            }
            Held held = (Held) booking;
            held.prefillTokens = held.selection.effectivePrefillTokens();
            return ChargeOutcome.CHARGED;
        });
    }

    @Override
    public CompletionStage<Void> touch(Booking booking) {
        touches.add(booking.id());
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
        return run(
                "workerRecord",
                () -> Optional.ofNullable(workers.get(workerId))
                        .filter(spec -> spec.partition().equals(partition))
                        .map(MemoryPool::record));
    }

    @Override
    public CompletionStage<Optional<List<RankScore>>> score(SelectRequest request) {
        return run(
                "score",
                () -> scores
                        ? Optional.of(workers.values().stream()
                                .filter(spec -> eligible(spec, request) && !overloaded.contains(spec.workerId()))
                                .map(spec -> new RankScore(
                                        WorkerRank.of(spec.workerId()), cost(spec, request), record(spec)))
                                .toList())
                        : Optional.empty());
    }

    private static WorkerRecord record(WorkerSpec spec) {
        return new WorkerRecord(spec, WorkerLifecycle.SCHEDULABLE, List.of());
    }

    private Selection choose(SelectRequest request) {
        synchronized (bookings) {
            List<WorkerSpec> eligible = workers.values().stream()
                    .filter(spec -> eligible(spec, request))
                    .toList();
            if (eligible.isEmpty()) {
                throw new NoEligibleWorkerException(request.partition(), Map.of());
            }
            WorkerSpec chosen = eligible.stream()
                    .filter(spec -> !overloaded.contains(spec.workerId()))
                    .min(Comparator.<WorkerSpec>comparingDouble(spec -> cost(spec, request))
                            .thenComparing(WorkerSpec::workerId))
                    .orElseThrow(() -> OverloadedException.all(request.partition(), eligible.size()));
            return selection(request, chosen);
        }
    }

    private Selection selection(SelectRequest request, WorkerSpec chosen) {
        long id = chosen.workerId();
        long isl = request.prompt().islTokens();
        long cached = Math.min(isl, (long) cachedBlocks.getOrDefault(id, 0) * BLOCK);
        return Selection.builder(request.partition(), WorkerRank.of(id))
                .endpoint(chosen.endpoint())
                .blockSize(BLOCK)
                .islTokens(isl)
                .cachedTokens(cached)
                .effectivePrefillTokens(isl - cached)
                .potentialDecodeBlocks(decodeBlocks(id) + blocks(request))
                .workerLoad(reportsLoad ? new WorkerLoad(prefillTokens(id), 1000, chosen.totalKvBlocks(), null) : null)
                .trackPrefillTokens(tracksPrefill(request))
                .build();
    }

    private static boolean eligible(WorkerSpec spec, SelectRequest request) {
        long id = spec.workerId();
        Set<Long> allowed = request.allowedWorkerIds();
        WorkerRank pin = request.pinnedWorker();
        return spec.partition().equals(request.partition())
                && (allowed == null || allowed.contains(id))
                && !request.excludedWorkerIds().contains(id)
                && (pin == null || pin.workerId() == id)
                && request.constraints().requiredTaints().stream().allMatch(spec::carries);
    }

    private double cost(WorkerSpec spec, SelectRequest request) {
        long id = spec.workerId();
        Double credit = request.override().overlapScoreCredit();
        double prefill =
                tracksPrefill(request) ? (prefillTokens(id) + request.prompt().islTokens()) / (double) BLOCK : 0;
        double raw = prefill - (credit == null ? 1 : credit) * cachedBlocks.getOrDefault(id, 0) + decodeBlocks(id);
        double matched = request.constraints().preferredTaints().entrySet().stream()
                .filter(e -> spec.carries(e.getKey()))
                .mapToDouble(Map.Entry::getValue)
                .sum();
        return (raw + 1000) * Math.exp(-Math.tanh(matched));
    }

    /** Blocks on a worker, booked and base. */
    public long decodeBlocks(long id) {
        return baseDecodeBlocks.getOrDefault(id, 0)
                + bookings.values().stream()
                        .filter(b -> b.id.worker().workerId() == id)
                        .mapToLong(b -> b.decodeBlocks)
                        .sum();
    }

    private static long blocks(SelectRequest request) {
        return (request.prompt().islTokens() + BLOCK - 1) / BLOCK;
    }

    private static boolean tracksPrefill(SelectRequest request) {
        return !Boolean.FALSE.equals(request.override().trackPrefillTokens());
    }

    private final class Held implements Booking {
        private final BookingId id;
        private final Selection selection;
        private volatile long prefillTokens;
        private volatile long decodeBlocks;

        Held(BookingId id, Selection selection) {
            this.id = id;
            this.selection = selection;
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
            prefillTokens = 0;
        }

        @Override
        public void addOutputBlocks(int blocks) {
            decodeBlocks += blocks;
        }

        @Override
        public void addOutputBlocks(int blocks, double remainingFraction) {
            decodeBlocks += blocks;
        }

        @Override
        public void close() {
            synchronized (bookings) {
                bookings.remove(id.selectionId(), this);
            }
        }
    }

    /** For messages of failed assertions. */
    @Override
    public String toString() {
        return "MemoryPool" + liveIds();
    }

    static @Nullable SelectRequest last(List<SelectRequest> requests) {
        return requests.isEmpty() ? null : requests.get(requests.size() - 1);
    }
}

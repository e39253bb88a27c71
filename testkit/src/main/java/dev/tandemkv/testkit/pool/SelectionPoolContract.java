package dev.tandemkv.testkit.pool;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.RoutingConstraints;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Checks that a {@link SelectionPool} keeps its contract, from one line of any test framework:
 *
 * <pre>{@code
 * SelectionPoolContract.verify(() -> new MyPool(...));
 * }</pre>
 *
 * <p>Each rule gets a fresh pool, which must have at least one schedulable worker in the default partition, with room for a few short
 * prompts. Every broken rule is named in one {@link AssertionError}, with what was seen. Answers are waited for, 10 s each unless told
 * otherwise; whatever a pool throws breaks the rule that called it.
 */
public final class SelectionPoolContract {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int CALLERS = 4;
    private static final Prompt PROMPT = Prompt.ofTokens(1, 2, 3, 4, 5, 6, 7, 8);

    private final PartitionKey partition;
    private final SelectionPool pool;
    private final Duration patience;

    private SelectionPoolContract(PartitionKey partition, SelectionPool pool, Duration patience) {
        this.partition = partition;
        this.pool = pool;
        this.patience = patience;
    }

    /** Checks every rule in the default partition. */
    public static void verify(Supplier<? extends SelectionPool> pools) {
        verify(PartitionKey.DEFAULT, pools);
    }

    /** Checks every rule, and waits 10 s for each answer. */
    public static void verify(PartitionKey partition, Supplier<? extends SelectionPool> pools) {
        verify(partition, pools, PATIENCE);
    }

    /**
     * Checks every rule.
     *
     * @param partition has at least one schedulable worker in each pool
     * @param pools makes a fresh pool
     * @param patience how long one answer is waited for
     * @throws AssertionError naming every rule that is broken
     */
    public static void verify(PartitionKey partition, Supplier<? extends SelectionPool> pools, Duration patience) {
        Objects.requireNonNull(partition, "partition");
        Objects.requireNonNull(pools, "pools");
        Objects.requireNonNull(patience, "patience");
        List<String> broken = new ArrayList<>();
        for (Rule rule : Rule.values()) {
            try {
                SelectionPool pool = Objects.requireNonNull(pools.get(), "the supplier made no pool");
                rule.check(new SelectionPoolContract(partition, pool, patience));
            } catch (Broken e) {
                broken.add(rule + ": " + e.getMessage());
            } catch (SelectionException e) {
                broken.add(rule + ": a call failed: " + e.kind() + ": " + e.getMessage());
            } catch (RuntimeException | LinkageError | AssertionError e) {
                broken.add(rule + ": a call threw instead of failing its stage: " + e);
            }
        }
        if (!broken.isEmpty()) {
            throw new AssertionError(
                    broken.size() + " rules of SelectionPool are broken:\n  " + String.join("\n  ", broken));
        }
    }

    private enum Rule {
        SELECT_BOOKS_NOTHING,
        RESERVE_ANSWERS_ITS_ID,
        FREE_IS_IDEMPOTENT,
        FREE_BY_ID,
        LIVE_ID_CONFLICTS,
        ONE_OF_MANY_CALLERS_WINS,
        FREE_HITS_ITS_INSTANCE_ONLY,
        UNKNOWN_ID_IS_GONE,
        PREFILL_COMPLETE_IS_IDEMPOTENT,
        TOUCH_KEEPS_THE_BOOKING,
        WORKER_RECORD_OF_ITS_PARTITION,
        RESTRICTIONS_ARE_HONOURED,
        CONSTRAINTS_ARE_HONOURED,
        NOBODY_ELIGIBLE_IS_TYPED,
        SCORES_ARE_FINITE_AND_BOOK_NOTHING,
        CHARGE_KEEPS_THE_BOOKING,
        CLOSE_FREES;

        void check(SelectionPoolContract c) {
            switch (this) {
                case SELECT_BOOKS_NOTHING -> c.selectBooksNothing();
                case RESERVE_ANSWERS_ITS_ID -> c.reserveAnswersItsId();
                case FREE_IS_IDEMPOTENT -> c.freeIsIdempotent();
                case FREE_BY_ID -> c.freeById();
                case LIVE_ID_CONFLICTS -> c.liveIdConflicts();
                case ONE_OF_MANY_CALLERS_WINS -> c.oneOfManyCallersWins();
                case FREE_HITS_ITS_INSTANCE_ONLY -> c.freeHitsItsInstanceOnly();
                case UNKNOWN_ID_IS_GONE -> c.unknownIdIsGone();
                case PREFILL_COMPLETE_IS_IDEMPOTENT -> c.prefillCompleteIsIdempotent();
                case TOUCH_KEEPS_THE_BOOKING -> c.touchKeepsTheBooking();
                case WORKER_RECORD_OF_ITS_PARTITION -> c.workerRecordOfItsPartition();
                case RESTRICTIONS_ARE_HONOURED -> c.restrictionsAreHonoured();
                case CONSTRAINTS_ARE_HONOURED -> c.constraintsAreHonoured();
                case NOBODY_ELIGIBLE_IS_TYPED -> c.nobodyEligibleIsTyped();
                case SCORES_ARE_FINITE_AND_BOOK_NOTHING -> c.scoresAreFiniteAndBookNothing();
                case CHARGE_KEEPS_THE_BOOKING -> c.chargeKeepsTheBooking();
                case CLOSE_FREES -> c.closeFrees();
            }
        }
    }

    /** A rule that does not hold. */
    private static final class Broken extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Broken(String message) {
            super(message);
        }
    }

    private void selectBooksNothing() {
        Selection chosen = answer(
                pool.select(request("a").mode(SelectRequest.Mode.ADVISORY).build()));
        require(chosen.islTokens() == PROMPT.islTokens(), "islTokens: " + chosen.islTokens());
        require(answer(pool.free("a")) == FreeOutcome.ALREADY_GONE, "select left something under its id");
    }

    private void reserveAnswersItsId() {
        Booking booking = reserve("a");
        require(
                booking.id().selectionId().equals("a"),
                "booking has id " + booking.id().selectionId());
        WorkerRank chosen = booking.selection().worker();
        require(booking.id().worker().equals(chosen), "booked " + booking.id().worker() + ", chose " + chosen);
    }

    private void freeIsIdempotent() {
        Booking booking = reserve("a");
        require(answer(pool.free(booking)) == FreeOutcome.FREED, "a live booking was not freed");
        require(answer(pool.free(booking)) == FreeOutcome.ALREADY_GONE, "a second free did not say so");
    }

    private void freeById() {
        reserve("a");
        require(answer(pool.free("a")) == FreeOutcome.FREED, "a live booking was not freed by its id");
        require(answer(pool.free("a")) == FreeOutcome.ALREADY_GONE, "a second free by id did not say so");
    }

    private void liveIdConflicts() {
        Booking first = reserve("a");
        Kind kind = failure(
                "a reserve of a live id", pool.selectAndReserve(request("a").build()));
        require(kind == Kind.CONFLICT, "a live id was answered with " + kind);
        require(answer(pool.free(first)) == FreeOutcome.FREED, "the first booking did not survive the conflict");
    }

    private void oneOfManyCallersWins() {
        List<Optional<Booking>> booked =
                atOnce(() -> ifAnswered(pool.selectAndReserve(request("a").build())));
        long live = booked.stream().flatMap(Optional::stream).count();
        require(live == 1, live + " of " + CALLERS + " reserves of one id at once were booked");
        Booking booking = booked.stream().flatMap(Optional::stream).findFirst().orElseThrow();
        long freed = atOnce(() -> answer(pool.free(booking))).stream()
                .filter(outcome -> outcome == FreeOutcome.FREED)
                .count();
        require(freed == 1, freed + " of " + CALLERS + " frees of one booking at once said FREED");
    }

    /** One call from each of several threads, begun together. */
    private static <T> List<T> atOnce(Supplier<T> call) {
        CountDownLatch start = new CountDownLatch(1);
        List<FutureTask<T>> calls = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            FutureTask<T> task = new FutureTask<>(() -> {
                start.await();
                return call.get();
            });
            calls.add(task);
            Thread caller = new Thread(task, "pool-contract-" + i);
            caller.setDaemon(true);
            caller.start();
        }
        start.countDown();
        return calls.stream().map(SelectionPoolContract::join).toList();
    }

    private static <T> T join(FutureTask<T> task) {
        try {
            return task.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Broken("interrupted");
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException thrown) {
                throw thrown;
            }
            throw new Broken("a call threw " + e.getCause());
        }
    }

    private void freeHitsItsInstanceOnly() {
        Booking first = reserve("a");
        answer(pool.free(first));
        Booking second = reserve("a");
        require(first.id().attemptId() != second.id().attemptId(), "an attempt id was used twice");
        require(answer(pool.free(first)) == FreeOutcome.ALREADY_GONE, "a late free hit the booking of a retry");
        require(answer(pool.free(second)) == FreeOutcome.FREED, "the retry's booking is gone");
    }

    private void unknownIdIsGone() {
        require(answer(pool.free("never seen")) == FreeOutcome.ALREADY_GONE, "an unknown id is not ALREADY_GONE");
    }

    private void prefillCompleteIsIdempotent() {
        Booking booking = reserve("a");
        settle(pool.prefillComplete(booking));
        settle(pool.prefillComplete(booking));
        require(answer(pool.free(booking)) == FreeOutcome.FREED, "the booking ended with its prefill");
    }

    private void touchKeepsTheBooking() {
        Booking booking = reserve("a");
        settle(pool.touch(booking));
        require(answer(pool.free(booking)) == FreeOutcome.FREED, "the booking ended with its renewal");
    }

    private void workerRecordOfItsPartition() {
        long worker = reserve("a").id().worker().workerId();
        require(
                answer(pool.workerRecord(partition, worker))
                        .filter(record -> record.workerId() == worker)
                        .isPresent(),
                "no record of a booked worker");
        require(
                answer(pool.workerRecord(partition, ~worker)).isEmpty(),
                "a record of worker " + Long.toUnsignedString(~worker) + ", which was never added");
        PartitionKey other = new PartitionKey(partition.modelName() + "-other", partition.routingGroup());
        require(answer(pool.workerRecord(other, worker)).isEmpty(), "a record leaks into another partition");
    }

    private void restrictionsAreHonoured() {
        WorkerRank any = reserve("a").id().worker();
        Booking allowed = answer(pool.selectAndReserve(
                request("b").allowedWorkerIds(Set.of(any.workerId())).build()));
        require(allowed.id().worker().workerId() == any.workerId(), "the allow-set was not honoured");
        Booking pinned =
                answer(pool.selectAndReserve(request("c").pinnedWorker(any).build()));
        require(pinned.id().worker().equals(any), "the pin was not honoured");
        SelectRequest without =
                request("d").excludedWorkerIds(Set.of(any.workerId())).build();
        CompletionStage<Booking> elsewhere = pool.selectAndReserve(without);
        Optional<Booking> other = ifAnswered(elsewhere);
        require(
                other.map(b -> b.id().worker().workerId() != any.workerId()).orElse(true),
                "an excluded worker was chosen");
    }

    /** What keeps both legs of a plan in one transfer domain. */
    private void constraintsAreHonoured() {
        Kind kind = failure(
                "a reserve for a taint that no worker carries",
                pool.selectAndReserve(request("a")
                        .constraints(RoutingConstraints.requiring("tandemkv.contract/nowhere=true"))
                        .queueing(SelectRequest.Queueing.REFUSED)
                        .build()));
        require(
                kind == Kind.NO_ELIGIBLE_WORKER || kind == Kind.NOT_READY,
                "a required taint that no worker carries was answered with " + kind);
        Map<String, Double> preferred = Map.of("tandemkv.contract/nowhere=true", 1.0);
        answer(pool.selectAndReserve(request("b")
                .constraints(new RoutingConstraints(Set.of(), preferred))
                .build()));
    }

    private void nobodyEligibleIsTyped() {
        Kind kind = failure(
                "a reserve with an empty allow-set",
                pool.selectAndReserve(request("a")
                        .allowedWorkerIds(Set.of())
                        .queueing(SelectRequest.Queueing.REFUSED)
                        .build()));
        require(
                kind == Kind.NO_ELIGIBLE_WORKER || kind == Kind.NOT_READY,
                "an empty allow-set was answered with " + kind);
        require(answer(pool.free("a")) == FreeOutcome.ALREADY_GONE, "a failed reserve left a booking");
    }

    private void scoresAreFiniteAndBookNothing() {
        Optional<List<RankScore>> scores = answer(pool.score(request("a").build()));
        for (RankScore score : scores.orElse(List.of())) {
            require(Double.isFinite(score.cost()), "cost of " + score.worker() + ": " + score.cost());
            require(
                    score.record().workerId() == score.worker().workerId(),
                    "record of another worker for " + score.worker());
        }
        require(scores.isEmpty() || !scores.get().isEmpty(), "no rank is eligible for a plain request");
        require(answer(pool.free("a")) == FreeOutcome.ALREADY_GONE, "score left something under its id");
        SelectRequest nobody = request("a").allowedWorkerIds(Set.of()).build();
        require(answer(pool.score(nobody)).orElse(List.of()).isEmpty(), "an empty allow-set was scored all the same");
    }

    private void chargeKeepsTheBooking() {
        Booking booking = reserve("a");
        answer(pool.chargePrefill(booking));
        require(answer(pool.free(booking)) == FreeOutcome.FREED, "the booking ended with its charge");
    }

    private void closeFrees() {
        Booking booking = reserve("a");
        booking.close();
        booking.close();
        require(answer(pool.free("a")) == FreeOutcome.ALREADY_GONE, "a closed booking is still live");
        reserve("a");
    }

    private SelectRequest.Builder request(String id) {
        return SelectRequest.builder(PROMPT).partition(partition).selectionId(id);
    }

    private Booking reserve(String id) {
        Booking booking = answer(pool.selectAndReserve(request(id).build()));
        require(booking.id() != null && booking.selection() != null, "a booking without id or selection");
        return booking;
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new Broken(otherwise);
        }
    }

    private <T> T answer(CompletionStage<T> stage) {
        T value = settle(stage);
        require(value != null, "an answer is null");
        return value;
    }

    private <T> Optional<T> ifAnswered(CompletionStage<T> stage) {
        try {
            return Optional.of(answer(stage));
        } catch (SelectionException refused) {
            return Optional.empty();
        }
    }

    private Kind failure(String what, CompletionStage<?> stage) {
        try {
            settle(stage);
        } catch (SelectionException e) {
            return e.kind();
        }
        throw new Broken(what + " succeeded");
    }

    private <T> T settle(CompletionStage<T> stage) {
        require(stage != null, "a call answered no stage");
        CompletableFuture<T> future = new CompletableFuture<>();
        stage.whenComplete((value, failure) -> {
            if (failure == null) {
                future.complete(value);
            } else {
                future.completeExceptionally(failure);
            }
        });
        try {
            return future.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new Broken("no answer in " + patience.toMillis() + " ms");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Broken("interrupted");
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() instanceof CompletionException wrapped ? wrapped.getCause() : e.getCause();
            if (cause instanceof SelectionException typed) {
                throw typed;
            }
            throw new Broken("untyped failure " + cause);
        }
    }
}

package dev.tandemkv.testkit.pool;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
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
 * prompts. Every broken rule is named in one {@link AssertionError}. Answers are waited for, 10 s each.
 */
public final class SelectionPoolContract {

    private static final long PATIENCE_SECONDS = 10;
    private static final Prompt PROMPT = Prompt.ofTokens(1, 2, 3, 4, 5, 6, 7, 8);

    private final PartitionKey partition;
    private final SelectionPool pool;

    private SelectionPoolContract(PartitionKey partition, SelectionPool pool) {
        this.partition = partition;
        this.pool = pool;
    }

    /** Checks every rule in the default partition. */
    public static void verify(Supplier<? extends SelectionPool> pools) {
        verify(PartitionKey.DEFAULT, pools);
    }

    /**
     * Checks every rule.
     *
     * @param partition has at least one schedulable worker in each pool
     * @param pools makes a fresh pool
     * @throws AssertionError naming every rule that is broken
     */
    public static void verify(PartitionKey partition, Supplier<? extends SelectionPool> pools) {
        Objects.requireNonNull(partition, "partition");
        List<String> broken = new ArrayList<>();
        for (Rule rule : Rule.values()) {
            try {
                rule.check(new SelectionPoolContract(partition, pools.get()));
            } catch (Broken | SelectionException e) {
                broken.add(rule + ": " + e.getMessage());
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
        FREE_HITS_ITS_INSTANCE_ONLY,
        UNKNOWN_ID_IS_GONE,
        PREFILL_COMPLETE_IS_IDEMPOTENT,
        TOUCH_KEEPS_THE_BOOKING,
        WORKER_RECORD_OF_ITS_PARTITION,
        RESTRICTIONS_ARE_HONOURED,
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
                case FREE_HITS_ITS_INSTANCE_ONLY -> c.freeHitsItsInstanceOnly();
                case UNKNOWN_ID_IS_GONE -> c.unknownIdIsGone();
                case PREFILL_COMPLETE_IS_IDEMPOTENT -> c.prefillCompleteIsIdempotent();
                case TOUCH_KEEPS_THE_BOOKING -> c.touchKeepsTheBooking();
                case WORKER_RECORD_OF_ITS_PARTITION -> c.workerRecordOfItsPartition();
                case RESTRICTIONS_ARE_HONOURED -> c.restrictionsAreHonoured();
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
        Kind kind = failure(pool.selectAndReserve(request("a").build()));
        require(kind == Kind.CONFLICT, "a live id was answered with " + kind);
        require(answer(pool.free(first)) == FreeOutcome.FREED, "the first booking did not survive the conflict");
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

    private void nobodyEligibleIsTyped() {
        Kind kind = failure(pool.selectAndReserve(request("a")
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

    private static <T> T answer(CompletionStage<T> stage) {
        T value = settle(stage);
        require(value != null, "an answer is null");
        return value;
    }

    private static <T> Optional<T> ifAnswered(CompletionStage<T> stage) {
        try {
            return Optional.of(answer(stage));
        } catch (SelectionException refused) {
            return Optional.empty();
        }
    }

    private static Kind failure(CompletionStage<?> stage) {
        try {
            settle(stage);
        } catch (SelectionException e) {
            return e.kind();
        }
        throw new Broken("the call succeeded");
    }

    private static <T> T settle(CompletionStage<T> stage) {
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
            return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new Broken("no answer in " + PATIENCE_SECONDS + " s");
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

package dev.tandemkv.testkit.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.tandemkv.catalog.ConflictException;
import dev.tandemkv.catalog.NotFoundException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.Booking;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.ChargeOutcome;
import dev.tandemkv.selection.FreeOutcome;
import dev.tandemkv.selection.RankScore;
import dev.tandemkv.selection.RoutingConstraints;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.SelectionPool;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** The conformance kit as a third party meets it: each kind of broken pool is found out, and the message says what is wrong. */
class BrokenPoolsTest {

    private static String verdict(Supplier<? extends SelectionPool> pools) {
        Throwable found =
                catchThrowable(() -> SelectionPoolContract.verify(PartitionKey.DEFAULT, pools, Duration.ofMillis(200)));
        assertThat(found).as("the pool passed").isInstanceOf(AssertionError.class);
        return found.getMessage();
    }

    /** A correct pool whose parts the tests replace. */
    private static class Correct implements SelectionPool {
        final LedgerPool pool = new LedgerPool(List.of(
                WorkerSpec.builder(1).endpoint("host1:8000").blockSize(16).build(),
                WorkerSpec.builder(2).endpoint("host2:8000").blockSize(16).build()));

        @Override
        public CompletionStage<Selection> select(SelectRequest request) {
            return pool.select(request);
        }

        @Override
        public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
            return pool.selectAndReserve(request);
        }

        @Override
        public CompletionStage<FreeOutcome> free(Booking booking) {
            return pool.free(booking);
        }

        @Override
        public CompletionStage<FreeOutcome> free(String selectionId) {
            return pool.free(selectionId);
        }

        @Override
        public CompletionStage<Void> prefillComplete(Booking booking) {
            return pool.prefillComplete(booking);
        }

        @Override
        public CompletionStage<ChargeOutcome> chargePrefill(Booking booking) {
            return pool.chargePrefill(booking);
        }

        @Override
        public CompletionStage<Void> touch(Booking booking) {
            return pool.touch(booking);
        }

        @Override
        public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
            return pool.workerRecord(partition, workerId);
        }

        @Override
        public CompletionStage<Optional<List<RankScore>>> score(SelectRequest request) {
            return pool.score(request);
        }
    }

    /** A booking whose parts the tests replace. */
    private static class Wrapped implements Booking {
        private final Booking inner;

        Wrapped(Booking inner) {
            this.inner = inner;
        }

        @Override
        public BookingId id() {
            return inner.id();
        }

        @Override
        public Selection selection() {
            return inner.selection();
        }

        @Override
        public void prefillComplete() {
            inner.prefillComplete();
        }

        @Override
        public void addOutputBlocks(int blocks) {
            inner.addOutputBlocks(blocks);
        }

        @Override
        public void addOutputBlocks(int blocks, double remainingFraction) {
            inner.addOutputBlocks(blocks, remainingFraction);
        }

        @Override
        public void close() {
            inner.close();
        }
    }

    @Test
    void selectThatBooks() {
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<Selection> select(SelectRequest request) {
                        return pool.selectAndReserve(request).thenApply(Booking::selection);
                    }
                }))
                .contains("SELECT_BOOKS_NOTHING: select left something under its id");
    }

    @Test
    void bookingOfAnotherIdOrWithoutOne() {
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
                        return pool.selectAndReserve(request.toBuilder()
                                .selectionId("mine-" + request.selectionId())
                                .build());
                    }
                }))
                .contains("RESERVE_ANSWERS_ITS_ID: booking has id mine-a");
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
                        return pool.selectAndReserve(request).thenApply(booking -> new Wrapped(booking) {
                            @Override
                            @SuppressWarnings("NullAway") // What a careless pool does.
                            public BookingId id() {
                                return null;
                            }
                        });
                    }
                }))
                .contains("RESERVE_ANSWERS_ITS_ID: a booking without id or selection");
    }

    @Test
    void secondFreeThatFails() {
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<FreeOutcome> free(Booking booking) {
                        return pool.free(booking).thenApply(outcome -> {
                            if (outcome == FreeOutcome.ALREADY_GONE) {
                                throw new NotFoundException(
                                        "booking", booking.id().selectionId());
                            }
                            return outcome;
                        });
                    }
                }))
                .contains("FREE_IS_IDEMPOTENT: a call failed: NOT_FOUND");
    }

    @Test
    void freeThatAlwaysSaysFreed() {
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<FreeOutcome> free(Booking booking) {
                        return pool.free(booking).thenApply(outcome -> FreeOutcome.FREED);
                    }
                }))
                .contains("FREE_IS_IDEMPOTENT: a second free did not say so")
                .contains("ONE_OF_MANY_CALLERS_WINS: 4 of 4 frees of one booking at once said FREED");
    }

    @Test
    void freeByIdThatDoesNothing() {
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<FreeOutcome> free(String selectionId) {
                        return CompletableFuture.completedFuture(FreeOutcome.ALREADY_GONE);
                    }
                }))
                .contains("FREE_BY_ID: a live booking was not freed by its id");
    }

    @Test
    void freeThatLooksTheIdUp() {
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<FreeOutcome> free(Booking booking) {
                        return pool.free(booking.id().selectionId());
                    }
                }))
                .contains("FREE_HITS_ITS_INSTANCE_ONLY: a late free hit the booking of a retry");
    }

    @Test
    void liveIdThatIsBookedTwiceOrReplaced() {
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
                        return pool.free(String.valueOf(request.selectionId()))
                                .thenCompose(gone -> pool.selectAndReserve(request));
                    }
                }))
                .contains("LIVE_ID_CONFLICTS: a reserve of a live id succeeded");
    }

    @Test
    void attemptIdThatNeverChanges() {
        assertThat(verdict(() -> new Correct() {
                    private final Map<String, Booking> mine = new HashMap<>();

                    @Override
                    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
                        return pool.selectAndReserve(request).thenApply(booking -> {
                            mine.put(booking.id().selectionId(), booking);
                            return new Wrapped(booking) {
                                @Override
                                public BookingId id() {
                                    return new BookingId(
                                            super.id().selectionId(), super.id().worker(), 7);
                                }
                            };
                        });
                    }

                    @Override
                    public CompletionStage<FreeOutcome> free(Booking booking) {
                        return pool.free(mine.getOrDefault(booking.id().selectionId(), booking));
                    }
                }))
                .contains("FREE_HITS_ITS_INSTANCE_ONLY: an attempt id was used twice");
    }

    /** Looks whether the id is free, and books a moment later: in order it passes, at once it does not. */
    @Test
    void reserveThatChecksBeforeItBooks() {
        CyclicBarrier together = new CyclicBarrier(4);
        assertThat(verdict(() -> new Correct() {
                    private final Set<String> live = ConcurrentHashMap.newKeySet();

                    @Override
                    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
                        String id = String.valueOf(request.selectionId());
                        if (live.contains(id)) {
                            return CompletableFuture.failedFuture(new ConflictException("selection id", id, "is live"));
                        }
                        if (Thread.currentThread().getName().startsWith("pool-contract")) {
                            awaitOthers(together);
                        }
                        live.add(id);
                        return pool.selectAndReserve(
                                        request.toBuilder().selectionId(null).build())
                                .thenApply(booking -> new Wrapped(booking) {
                                    @Override
                                    public BookingId id() {
                                        return new BookingId(
                                                id,
                                                super.id().worker(),
                                                super.id().attemptId());
                                    }
                                });
                    }
                }))
                .contains("ONE_OF_MANY_CALLERS_WINS: 4 of 4 reserves of one id at once were booked");
    }

    private static void awaitOthers(CyclicBarrier together) {
        try {
            together.await(30, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void unknownIdThatFails() {
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<FreeOutcome> free(String selectionId) {
                        return pool.free(selectionId).thenApply(outcome -> {
                            if (outcome == FreeOutcome.ALREADY_GONE) {
                                throw new NotFoundException("booking", selectionId);
                            }
                            return outcome;
                        });
                    }
                }))
                .contains("UNKNOWN_ID_IS_GONE: a call failed: NOT_FOUND");
    }

    @Test
    void prefillMarkAndRenewalAndChargeThatEndTheBooking() {
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<Void> prefillComplete(Booking booking) {
                        return pool.free(booking).thenApply(freed -> null);
                    }

                    @Override
                    public CompletionStage<Void> touch(Booking booking) {
                        return pool.free(booking).thenApply(freed -> null);
                    }

                    @Override
                    public CompletionStage<ChargeOutcome> chargePrefill(Booking booking) {
                        return pool.free(booking).thenApply(freed -> ChargeOutcome.CHARGED);
                    }
                }))
                .contains("PREFILL_COMPLETE_IS_IDEMPOTENT: the booking ended with its prefill")
                .contains("TOUCH_KEEPS_THE_BOOKING: the booking ended with its renewal")
                .contains("CHARGE_KEEPS_THE_BOOKING: the booking ended with its charge");
    }

    @Test
    void recordsThatLeakOrAreInvented() {
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
                        return pool.workerRecord(PartitionKey.DEFAULT, workerId);
                    }
                }))
                .contains("WORKER_RECORD_OF_ITS_PARTITION: a record leaks into another partition");
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
                        return pool.workerRecord(partition, workerId == 1 ? 1 : 2);
                    }
                }))
                .contains("WORKER_RECORD_OF_ITS_PARTITION: a record of worker");
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<Optional<WorkerRecord>> workerRecord(PartitionKey partition, long workerId) {
                        return CompletableFuture.completedFuture(Optional.empty());
                    }
                }))
                .contains("WORKER_RECORD_OF_ITS_PARTITION: no record of a booked worker");
    }

    @Test
    void poolThatIgnoresPinsAllowSetsAndTaints() {
        String verdict = verdict(() -> new Correct() {
            private int next;

            @Override
            public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
                return pool.selectAndReserve(request.toBuilder()
                        .pinnedWorker(null)
                        .allowedWorkerIds(Set.of(1L + next++ % 2))
                        .excludedWorkerIds(Set.of())
                        .constraints(RoutingConstraints.NONE)
                        .build());
            }
        });
        assertThat(verdict)
                .contains("RESTRICTIONS_ARE_HONOURED: the allow-set was not honoured")
                .contains("CONSTRAINTS_ARE_HONOURED: a reserve for a taint that no worker carries succeeded")
                .contains("NOBODY_ELIGIBLE_IS_TYPED: a reserve with an empty allow-set succeeded");
    }

    @Test
    void failureWithoutAType() {
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
                        return Set.of().equals(request.allowedWorkerIds())
                                ? CompletableFuture.failedFuture(new IllegalStateException("nobody"))
                                : pool.selectAndReserve(request);
                    }
                }))
                .contains("NOBODY_ELIGIBLE_IS_TYPED: untyped failure java.lang.IllegalStateException: nobody");
    }

    @Test
    void scoresThatBookOrAreNoNumbers() {
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<Optional<List<RankScore>>> score(SelectRequest request) {
                        return pool.selectAndReserve(request).thenCompose(booked -> pool.score(request));
                    }
                }))
                .contains("SCORES_ARE_FINITE_AND_BOOK_NOTHING: score left something under its id");
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<Optional<List<RankScore>>> score(SelectRequest request) {
                        return pool.score(
                                request.toBuilder().allowedWorkerIds(null).build());
                    }
                }))
                .contains("SCORES_ARE_FINITE_AND_BOOK_NOTHING: an empty allow-set was scored all the same");
    }

    @Test
    void closeThatFreesNothing() {
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<Booking> selectAndReserve(SelectRequest request) {
                        return pool.selectAndReserve(request).thenApply(booking -> new Wrapped(booking) {
                            @Override
                            public void close() {}
                        });
                    }
                }))
                .contains("CLOSE_FREES: a closed booking is still live");
    }

    @Test
    @SuppressWarnings("NullAway") // What a careless pool does.
    void poolThatThrowsAnswersNothingOrNever() {
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<FreeOutcome> free(Booking booking) {
                        throw new IllegalStateException("not connected");
                    }
                }))
                .contains("FREE_IS_IDEMPOTENT: a call threw instead of failing its stage: "
                        + "java.lang.IllegalStateException: not connected");
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<Void> touch(Booking booking) {
                        return null;
                    }
                }))
                .contains("TOUCH_KEEPS_THE_BOOKING: a call answered no stage");
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<FreeOutcome> free(String selectionId) {
                        return CompletableFuture.completedFuture(null);
                    }
                }))
                .contains("FREE_BY_ID: an answer is null");
        assertThat(verdict(() -> new Correct() {
                    @Override
                    public CompletionStage<Void> prefillComplete(Booking booking) {
                        return new CompletableFuture<>();
                    }
                }))
                .contains("PREFILL_COMPLETE_IS_IDEMPOTENT: no answer in 200 ms");
        assertThat(verdict(() -> null)).contains("the supplier made no pool");
    }

    @Test
    void poolWithoutWorkers() {
        assertThat(verdict(() -> new LedgerPool(List.of())))
                .contains("RESERVE_ANSWERS_ITS_ID: a call failed: NO_ELIGIBLE_WORKER");
    }

    @Test
    void soundPool_passes() {
        SelectionPoolContract.verify(Correct::new);
    }
}

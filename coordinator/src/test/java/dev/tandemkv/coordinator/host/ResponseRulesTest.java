package dev.tandemkv.coordinator.host;

import static dev.tandemkv.coordinator.host.HostFixture.get;
import static dev.tandemkv.coordinator.host.HostFixture.request;
import static dev.tandemkv.coordinator.host.HostFixture.select;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.tandemkv.catalog.CancelledException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The rules of Flow on both sides of a response, and what breaks them: one end for the client, one release of the booking. */
class ResponseRulesTest {

    private final HostFixture f = new HostFixture();
    private final RoutingHost<String, Integer> host = f.builder().build();
    private final List<Flow.Subscriber<? super Integer>> raw = new ArrayList<>();
    private final List<String> worker = new ArrayList<>();

    private void assertNothingHeld() {
        assertThat(f.pool.liveIds()).isEmpty();
        assertThat(f.pool.frees.stream().filter("q"::equals)).hasSize(1);
        assertThat(host.pendingFrees()).isEmpty();
    }

    /** A publisher that only notes its subscriber, so that the test can signal whatever it likes. */
    private void rawPublisher() {
        f.answers = target -> CompletableFuture.completedFuture(raw::add);
    }

    private Flow.Subscription subscription(String name) {
        return new Flow.Subscription() {
            @Override
            public void request(long n) {
                worker.add(name + " asked for " + n);
            }

            @Override
            public void cancel() {
                worker.add(name + " cancelled");
            }
        };
    }

    private HostFixture.Sink read() {
        return HostFixture.read(get(f.route(host, request())));
    }

    private RoutingHost<String, Integer> migrating() {
        return f.builder()
                .migration((payload, generated, failure) -> Optional.of(payload))
                .build();
    }

    // ---- the subscriber's side

    @Test
    void nullSubscriber_throwsAndTheResponseCanStillBeRead() {
        RoutedStream<Integer> stream = get(f.route(host, request()));
        assertThatNullPointerException().isThrownBy(() -> stream.subscribe(null));
        HostFixture.Sink sink = HostFixture.read(stream);
        f.last().complete();
        assertThat(sink.completed).isTrue();
        assertNothingHeld();
    }

    @Test
    void requestOfNothing_endsTheResponseWithIllegalArgument() {
        for (long n : new long[] {0, -1, Long.MIN_VALUE}) {
            HostFixture fresh = new HostFixture();
            HostFixture.Sink sink =
                    HostFixture.read(get(fresh.route(fresh.builder().build(), request())));
            sink.subscription.request(n);
            assertThat(sink.failure)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("request: " + n);
            assertThat(fresh.last().cancelled).isTrue();
            assertThat(fresh.pool.liveIds()).isEmpty();
        }
    }

    @Test
    void requestAfterTheEnd_doesNothing() {
        HostFixture.Sink sink = read();
        f.last().complete();
        sink.subscription.request(0);
        sink.subscription.request(5);
        sink.subscription.cancel();
        assertThat(sink.ends).isEqualTo(1);
        assertNothingHeld();
    }

    @Test
    void subscriberThrowsInOnSubscribe_countsAsCancelled() {
        RoutedStream<Integer> stream = get(f.route(host, request()));
        stream.subscribe(new Throwing("onSubscribe"));
        assertThat(f.metrics).contains("warning subscriber");
        assertThat(f.last().cancelled).isTrue();
        assertNothingHeld();
    }

    @Test
    void subscriberThrowsInOnNext_countsAsCancelled() {
        RoutedStream<Integer> stream = get(f.route(host, request()));
        Throwing subscriber = new Throwing("onNext");
        stream.subscribe(subscriber);
        f.last().emit(1);
        assertThat(f.last().cancelled).isTrue();
        assertThat(subscriber.ends).isZero();
        assertThat(f.metrics).contains("warning subscriber");
        assertNothingHeld();
    }

    @Test
    void subscriberThrowsAtTheEnd_bookingIsFreed() {
        for (String when : List.of("onComplete", "onError")) {
            HostFixture fresh = new HostFixture();
            get(fresh.route(fresh.builder().build(), request())).subscribe(new Throwing(when));
            if (when.equals("onComplete")) {
                fresh.last().complete();
            } else {
                fresh.last().fail(new IllegalStateException("engine died"));
            }
            assertThat(fresh.pool.liveIds()).isEmpty();
            assertThat(fresh.metrics).contains("warning subscriber");
        }
    }

    private static final class Throwing implements Flow.Subscriber<Integer> {
        private final String when;
        private int ends;

        Throwing(String when) {
            this.when = when;
        }

        private void maybe(String now) {
            if (now.equals(when)) {
                throw new IllegalStateException(now);
            }
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            maybe("onSubscribe");
            subscription.request(10);
        }

        @Override
        public void onNext(Integer item) {
            maybe("onNext");
        }

        @Override
        public void onError(Throwable failure) {
            ends++;
            maybe("onError");
        }

        @Override
        public void onComplete() {
            ends++;
            maybe("onComplete");
        }
    }

    @Test
    void cancelInsideOnNext_stopsTheWorkerAndNothingFollows() {
        HostFixture.Sink sink = new HostFixture.Sink() {
            @Override
            public void onNext(Integer item) {
                super.onNext(item);
                subscription.cancel();
            }
        };
        get(f.route(host, request())).subscribe(sink);
        f.last().emit(1);
        f.last().emit(1);
        f.last().complete();
        assertThat(sink.items).containsExactly(1);
        assertThat(sink.ends).isZero();
        assertThat(f.last().cancelled).isTrue();
        assertNothingHeld();
    }

    @Test
    void cancelInsideOnSubscribe_stopsTheWorker() {
        get(f.route(host, request())).subscribe(new HostFixture.Sink() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.cancel();
            }
        });
        assertThat(f.last().cancelled).isTrue();
        assertNothingHeld();
    }

    @Test
    void clientStopsInsideOnNext_endComesAfterTheItem() {
        List<String> signals = new ArrayList<>();
        HostFixture.Sink sink = new HostFixture.Sink() {
            @Override
            public void onNext(Integer item) {
                f.client.cancel();
                signals.add("item");
            }

            @Override
            public void onError(Throwable failure) {
                signals.add("end");
            }
        };
        get(f.route(host, request())).subscribe(sink);
        f.last().emit(1);
        assertThat(signals).containsExactly("item", "end");
        assertNothingHeld();
    }

    @Test
    void handleClosedByAnotherOwner_subscriberIsTold() {
        RoutedStream<Integer> stream = get(f.route(host, request()));
        HostFixture.Sink sink = HostFixture.read(stream);
        stream.close();
        assertThat(sink.failure).isInstanceOf(CancelledException.class);
        assertThat(sink.ends).isEqualTo(1);
        assertNothingHeld();
    }

    @Test
    void clientStopsBeforeAnyoneReads_workerIsStoppedAndALateReaderLearnsWhy() {
        RoutedStream<Integer> stream = get(f.route(host, request()));
        f.client.cancel();
        assertThat(f.last().cancelled).isTrue();
        assertNothingHeld();
        HostFixture.Sink sink = HostFixture.read(stream);
        assertThat(sink.failure).isInstanceOf(CancelledException.class);
    }

    // ---- the worker's side

    @Test
    void publisherThrowsInSubscribe_isABrokenResponse() {
        f.answers = target -> CompletableFuture.completedFuture(subscriber -> {
            throw new IllegalStateException("no stream");
        });
        HostFixture.Sink sink = read();
        assertThat(sink.failure).hasMessage("no stream");
        assertNothingHeld();
    }

    @Test
    void publisherThrowsInSubscribe_isMigrated() {
        f.answers = target -> f.targets.size() > 1
                ? null
                : CompletableFuture.completedFuture(subscriber -> {
                    throw new IllegalStateException("no stream");
                });
        HostFixture.Sink sink = HostFixture.read(get(f.route(migrating(), request())));
        f.last().complete();
        assertThat(sink.completed).isTrue();
        assertThat(f.pool.liveIds()).isEmpty();
    }

    @Test
    void migratedPublisherThrowsInSubscribe_clientSeesIt() {
        f.answers = target -> f.targets.size() == 1
                ? null
                : CompletableFuture.completedFuture(subscriber -> {
                    throw new IllegalStateException("no stream from " + target.worker());
                });
        HostFixture.Sink sink = HostFixture.read(get(f.route(
                f.builder()
                        .maxMigrations(1)
                        .migration((payload, generated, failure) -> Optional.of(payload))
                        .build(),
                request())));
        f.last().fail(new IllegalStateException("first"));
        assertThat(sink.failure).hasMessage("no stream from 2/0");
        assertThat(f.pool.liveIds()).isEmpty();
    }

    @Test
    void publisherNeverSubscribes_clientStopFreesTheBooking() {
        rawPublisher();
        HostFixture.Sink sink = read();
        assertThat(sink.ends).isZero();
        f.client.cancel();
        assertThat(sink.failure).isInstanceOf(CancelledException.class);
        assertNothingHeld();
        raw.get(0).onSubscribe(subscription("late"));
        assertThat(worker).containsExactly("late cancelled");
    }

    @Test
    void onSubscribeTwice_secondIsCancelledFirstGoesOn() {
        rawPublisher();
        HostFixture.Sink sink = read();
        raw.get(0).onSubscribe(subscription("first"));
        raw.get(0).onSubscribe(subscription("second"));
        assertThat(worker).containsExactly("first asked for 100", "second cancelled");
        sink.subscription.cancel();
        assertThat(worker).endsWith("first cancelled");
        assertNothingHeld();
    }

    @Test
    void completeTwiceAndErrorAfterComplete_oneEnd() {
        rawPublisher();
        HostFixture.Sink sink = read();
        raw.get(0).onSubscribe(subscription("s"));
        raw.get(0).onComplete();
        raw.get(0).onComplete();
        raw.get(0).onError(new IllegalStateException("late"));
        raw.get(0).onNext(1);
        assertThat(sink.ends).isEqualTo(1);
        assertThat(sink.items).isEmpty();
        assertThat(worker).as("nothing is left to cancel").containsExactly("s asked for 100");
        assertNothingHeld();
    }

    @Test
    void errorTwice_migratesOnce() {
        rawPublisher();
        f.pool.worker(3);
        HostFixture.Sink sink = HostFixture.read(get(f.route(migrating(), request())));
        raw.get(0).onSubscribe(subscription("first"));
        raw.get(0).onError(new IllegalStateException("once"));
        raw.get(0).onError(new IllegalStateException("twice"));
        raw.get(0).onNext(7);
        raw.get(0).onComplete();
        assertThat(f.targets).hasSize(2);
        assertThat(sink.items).isEmpty();
        assertThat(sink.ends).isZero();
        raw.get(1).onSubscribe(subscription("second"));
        raw.get(1).onComplete();
        assertThat(sink.completed).isTrue();
        assertThat(f.pool.liveIds()).isEmpty();
    }

    @Test
    void completeWhileMigrating_doesNotEndTheResponse() {
        rawPublisher();
        HostFixture.Sink sink = HostFixture.read(get(f.route(migrating(), request())));
        raw.get(0).onSubscribe(subscription("first"));
        f.answers = target -> new CompletableFuture<>();
        raw.get(0).onError(new IllegalStateException("died"));
        raw.get(0).onComplete();
        assertThat(sink.ends).isZero();
        sink.subscription.cancel();
        assertThat(f.pool.liveIds()).as("the second dispatch is never answered").isEmpty();
    }

    @Test
    void nullItem_endsTheResponse() {
        rawPublisher();
        HostFixture.Sink sink = read();
        raw.get(0).onSubscribe(subscription("s"));
        raw.get(0).onNext(null);
        assertThat(sink.failure).isInstanceOf(NullPointerException.class);
        assertThat(worker).endsWith("s cancelled");
        assertNothingHeld();
    }

    @Test
    void readerThrows_endsTheResponseAndIsNotMigrated() {
        RoutingHost<String, Integer> h = RoutingHost.<String, Integer>builder(
                        f.pool,
                        (payload, target) -> CompletableFuture.completedFuture(raw::add),
                        item -> {
                            throw new IllegalStateException("unreadable");
                        },
                        f.time)
                .ticker(f.time)
                .migration((payload, generated, failure) -> Optional.of(payload))
                .build();
        HostFixture.Sink sink = HostFixture.read(get(h.route(request(), f.client)));
        raw.get(0).onSubscribe(subscription("s"));
        raw.get(0).onNext(1);
        assertThat(sink.failure).hasMessage("unreadable");
        assertThat(worker).endsWith("s cancelled");
        assertThat(f.pool.reserves).hasSize(1);
        assertThat(f.pool.liveIds()).isEmpty();
    }

    @Test
    void moreItemsThanAskedFor_demandNeverGoesBelowZero() {
        rawPublisher();
        HostFixture.Sink sink = new HostFixture.Sink() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                this.subscription = subscription;
                subscription.request(1);
            }
        };
        get(f.route(migrating(), request())).subscribe(sink);
        raw.get(0).onSubscribe(subscription("first"));
        for (int i = 0; i < 5; i++) {
            raw.get(0).onNext(1);
        }
        raw.get(0).onError(new IllegalStateException("died"));
        raw.get(1).onSubscribe(subscription("second"));
        sink.subscription.request(2);
        assertThat(worker).contains("second asked for 2");
        raw.get(1).onError(new IllegalStateException("died"));
        assertThat(f.pool.liveIds()).hasSizeLessThanOrEqualTo(1);
        sink.subscription.cancel();
        assertThat(f.pool.liveIds()).isEmpty();
    }

    @Test
    void subscriptionThrowsOnCancel_clientIsStillTold() {
        f.answers = target ->
                CompletableFuture.completedFuture(subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
                    @Override
                    public void request(long n) {}

                    @Override
                    public void cancel() {
                        throw new IllegalStateException("cannot cancel");
                    }
                }));
        HostFixture.Sink sink = read();
        f.client.cancel();
        assertThat(sink.failure).isInstanceOf(CancelledException.class);
        assertNothingHeld();
    }

    @Test
    void subscriptionThrowsOnRequest_isABrokenResponse() {
        f.answers = target ->
                CompletableFuture.completedFuture(subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
                    @Override
                    public void request(long n) {
                        throw new IllegalStateException("cannot ask");
                    }

                    @Override
                    public void cancel() {}
                }));
        HostFixture.Sink sink = read();
        assertThat(sink.failure).hasMessage("cannot ask");
        assertNothingHeld();
    }

    // ---- migration

    @Test
    void migrationThrows_clientSeesTheFailureAndTheBookingIsFreed() {
        RoutingHost<String, Integer> h = f.builder()
                .migration((payload, generated, failure) -> {
                    throw new IllegalStateException("migration");
                })
                .build();
        HostFixture.Sink sink = HostFixture.read(get(f.route(h, request())));
        f.last().fail(new IllegalStateException("engine died"));
        assertThat(sink.failure).hasMessage("engine died");
        assertThat(sink.failure.getSuppressed()).hasSize(1);
        assertNothingHeld();
    }

    @Test
    void responseSaidThatItEnded_failureAfterwardsIsNotMigrated() {
        for (int lastItem : new int[] {HostFixture.ENDS_BADLY, HostFixture.ENDS_WELL}) {
            HostFixture fresh = new HostFixture();
            RoutingHost<String, Integer> h = fresh.builder()
                    .migration((payload, generated, failure) -> Optional.of(payload))
                    .build();
            HostFixture.Sink sink = HostFixture.read(get(fresh.route(h, request())));
            fresh.last().emit(1);
            fresh.last().emit(lastItem);
            fresh.last().fail(new IllegalStateException("connection reset"));
            assertThat(fresh.targets).hasSize(1);
            assertThat(sink.failure).hasMessage("connection reset");
            assertThat(fresh.pool.liveIds()).isEmpty();
        }
    }

    @Test
    void closedWhileMigrating_secondAttemptIsWithdrawn() {
        RoutedStream<Integer> stream = get(f.route(migrating(), request()));
        HostFixture.Sink sink = HostFixture.read(stream);
        AtomicBoolean dropped = new AtomicBoolean();
        CompletableFuture<Flow.Publisher<Integer>> slow = new CompletableFuture<>();
        f.answers = target -> slow;
        f.last().fail(new IllegalStateException("engine died"));
        assertThat(f.pool.liveIds()).containsExactly("q/2");
        stream.close();
        assertThat(f.pool.liveIds()).isEmpty();
        assertThat(sink.ends).isEqualTo(1);
        slow.complete(subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long n) {}

            @Override
            public void cancel() {
                dropped.set(true);
            }
        }));
        assertThat(dropped).as("a response that comes too late is dropped").isTrue();
    }

    // ---- staged decode

    private HostFixture.Sink readStaged() {
        return HostFixture.read(
                get(f.route(host, new HostRequest<>("p", select(32).build(), Phase.DECODE_STAGED))));
    }

    @Test
    void stagedDecode_subscriberCancelsBeforeTheFirstToken_isDrainedUntilTheKvHasArrived() {
        HostFixture.Sink sink = readStaged();
        sink.subscription.cancel();
        assertThat(f.last().cancelled).as("only the transfer frees the KV").isFalse();
        assertThat(f.last().requested).isGreaterThan(1_000_000);
        assertThat(f.pool.live()).isEqualTo(1);
        f.last().emit(0);
        f.last().emit(1);
        assertThat(f.last().cancelled).isTrue();
        assertThat(sink.items).isEmpty();
        assertThat(sink.ends).isZero();
        assertNothingHeld();
    }

    @Test
    void stagedDecode_handleDroppedUnread_isDispatchedAndDrained() {
        RoutedStream<Integer> stream =
                get(f.route(host, new HostRequest<>("p", select(32).build(), Phase.DECODE_STAGED)));
        stream.close();
        stream.close();
        assertThat(f.pool.live()).isEqualTo(1);
        f.last().complete();
        assertNothingHeld();
    }

    @Test
    void stagedDecode_drainNeverEnds_releasedAt120s() {
        readStaged().subscription.cancel();
        f.time.advance(Duration.ofSeconds(119));
        assertThat(f.pool.live()).isEqualTo(1);
        f.time.advance(Duration.ofSeconds(2));
        assertThat(f.last().cancelled).isTrue();
        assertNothingHeld();
    }

    @Test
    void stagedDecode_cancelAfterTheFirstToken_stopsAtOnce() {
        HostFixture.Sink sink = readStaged();
        f.last().emit(1);
        sink.subscription.cancel();
        assertThat(f.last().cancelled).isTrue();
        assertNothingHeld();
    }
}

package dev.tandemkv.coordinator.host;

import dev.tandemkv.affinity.AffinityLease;
import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.coordinator.host.HostedRequest.Attempt;
import dev.tandemkv.coordinator.internal.Failures;
import dev.tandemkv.selection.Selection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Passes a worker's response on, shows it to the guard, and lets go of everything at its end. A response that breaks off may go on from
 * another worker; the subscriber's demand is carried over.
 *
 * <p>Signals of one worker come one after another, as Flow demands; requests and cancellations from anywhere. The lock guards the fields
 * below it; subscribers, subscriptions and guards are called outside.
 */
final class GuardedStream<Q, R> implements RoutedStream<R> {

    private final HostedRequest<Q, R> request;
    private final ResponseReader<R> reader;

    private final Object lock = new Object();
    private Attempt<Q, R> attempt;
    private Flow.@Nullable Subscriber<? super R> downstream;
    private Flow.@Nullable Subscription upstream;
    private CancellationSignal.@Nullable Registration stopRegistration;
    private long demand;
    private long generated;
    private boolean connected;
    private boolean endedBadly;
    private boolean over;

    GuardedStream(HostedRequest<Q, R> request, ResponseReader<R> reader, Attempt<Q, R> first) {
        this.request = request;
        this.reader = reader;
        attempt = first;
    }

    /** Begins to listen for the request's stop; apart from the constructor, because the stop may come at once. */
    GuardedStream<Q, R> open() {
        CancellationSignal.Registration registration = request.stopSignal().onCancel(this::stopped);
        boolean late;
        synchronized (lock) {
            late = over;
            stopRegistration = registration;
        }
        if (late) {
            registration.close();
        }
        return this;
    }

    @Override
    public Selection selection() {
        synchronized (lock) {
            return attempt.selection();
        }
    }

    @Override
    public void subscribe(Flow.Subscriber<? super R> subscriber) {
        boolean refused;
        Attempt<Q, R> first;
        synchronized (lock) {
            refused = downstream != null || over;
            if (!refused) {
                downstream = subscriber;
                connected = true;
            }
            first = attempt;
        }
        if (refused) {
            subscriber.onSubscribe(new Nothing());
            subscriber.onError(new IllegalStateException("the response has ended or has a subscriber"));
            return;
        }
        subscriber.onSubscribe(new Downstream());
        first.response().subscribe(new Upstream(first));
    }

    private static final class Nothing implements Flow.Subscription {
        @Override
        public void request(long n) {}

        @Override
        public void cancel() {}
    }

    private final class Downstream implements Flow.Subscription {
        @Override
        public void request(long n) {
            if (n <= 0) {
                fail(new IllegalArgumentException("request: " + n + " (expected: >= 1)"));
                return;
            }
            Flow.Subscription up;
            synchronized (lock) {
                demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
                up = upstream;
            }
            if (up != null) {
                up.request(n);
            }
        }

        @Override
        public void cancel() {
            close();
        }
    }

    private final class Upstream implements Flow.Subscriber<R> {
        private final Attempt<Q, R> mine;

        Upstream(Attempt<Q, R> mine) {
            this.mine = mine;
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            long carried;
            synchronized (lock) {
                if (over) {
                    carried = -1;
                } else {
                    upstream = subscription;
                    carried = demand;
                }
            }
            if (carried < 0) {
                subscription.cancel();
            } else if (carried > 0) {
                subscription.request(carried);
            }
        }

        @Override
        public void onNext(R item) {
            ResponseReader.Item read = reader.read(item);
            Flow.Subscriber<? super R> to;
            synchronized (lock) {
                if (over) {
                    return;
                }
                if (demand != Long.MAX_VALUE) {
                    demand--;
                }
                generated += read.tokens();
                endedBadly |= read.end() == ResponseReader.End.BADLY;
                to = downstream;
            }
            mine.guard().item(read.tokens());
            AffinityLease lease = mine.lease();
            if (lease != null && read.tokens() > 0) {
                lease.firstToken();
            }
            if (to != null) {
                to.onNext(item);
            }
        }

        @Override
        public void onComplete() {
            Flow.Subscriber<? super R> to = end(mine);
            if (to != null) {
                to.onComplete();
            }
        }

        @Override
        public void onError(Throwable failure) {
            broken(mine, failure);
        }
    }

    private void broken(Attempt<Q, R> mine, Throwable failure) {
        long soFar;
        synchronized (lock) {
            if (over) {
                return;
            }
            upstream = null;
            endedBadly = true;
            soFar = generated;
        }
        Optional<CompletableFuture<Attempt<Q, R>>> next = request.migrate(mine, soFar, failure);
        if (next.isEmpty()) {
            fail(failure);
            return;
        }
        next.get().whenComplete((moved, refused) -> {
            if (refused == null) {
                goOn(moved);
            } else {
                Throwable error = Failures.unwrap(refused);
                if (error != failure) {
                    error.addSuppressed(failure);
                }
                fail(error);
            }
        });
    }

    private void goOn(Attempt<Q, R> moved) {
        boolean late;
        synchronized (lock) {
            late = over;
            if (!late) {
                attempt = moved;
                endedBadly = false;
            }
        }
        if (late) {
            Dropped.drop(moved.response());
            letGo(moved, Ended.BADLY);
        } else {
            moved.response().subscribe(new Upstream(moved));
        }
    }

    private void fail(Throwable failure) {
        Attempt<Q, R> last;
        Flow.Subscription up;
        synchronized (lock) {
            last = attempt;
            up = upstream;
            endedBadly = true;
        }
        Flow.Subscriber<? super R> to = end(last);
        if (to != null) {
            if (up != null) {
                up.cancel();
            }
            to.onError(failure);
        }
    }

    private void stopped() {
        fail(new CancelledException("request"));
        close();
    }

    @Override
    public void close() {
        Attempt<Q, R> last;
        Flow.Subscription up;
        boolean neverAsked;
        synchronized (lock) {
            if (over) {
                return;
            }
            last = attempt;
            up = upstream;
            neverAsked = !connected;
            endedBadly = true;
        }
        end(last);
        if (up != null) {
            up.cancel();
        } else if (neverAsked) {
            Dropped.drop(last.response());
        }
    }

    /** Ends the response once: whoever gets the subscriber back tells it. */
    private Flow.@Nullable Subscriber<? super R> end(Attempt<Q, R> last) {
        Flow.Subscriber<? super R> to;
        CancellationSignal.Registration registration;
        Ended how;
        synchronized (lock) {
            if (over) {
                return null;
            }
            over = true;
            to = downstream;
            downstream = null;
            registration = stopRegistration;
            how = endedBadly ? Ended.BADLY : Ended.WELL;
        }
        if (registration != null) {
            registration.close();
        }
        letGo(last, how);
        request.over();
        return to;
    }

    private enum Ended {
        WELL,
        BADLY
    }

    private static void letGo(Attempt<?, ?> ended, Ended how) {
        ended.guard().finish();
        AffinityLease lease = ended.lease();
        if (lease != null) {
            if (how == Ended.WELL) {
                lease.succeeded();
            }
            lease.close();
        }
    }
}

package dev.tandemkv.coordinator.host;

import dev.tandemkv.affinity.AffinityLease;
import dev.tandemkv.catalog.time.CancellationSignal;
import dev.tandemkv.coordinator.host.HostedRequest.Attempt;
import dev.tandemkv.coordinator.internal.Failures;
import dev.tandemkv.coordinator.internal.GuardedObserver;
import dev.tandemkv.selection.Selection;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Passes a worker's response on, shows it to the guard, and lets go of everything at its end. A response that breaks off may go on from
 * another worker; the subscriber's demand is carried over. Where KV is staged for the worker, a subscriber that leaves before the first
 * token does not stop it: the rest is read to nobody until a token shows that the KV has arrived.
 *
 * <pre>
 * unread --subscribe--> reading --error--> migrating --> reading ... --end, cancel, close, stop--> over
 *    \                     \--subscriber left, KV staged--> draining --first token, end, stop--/
 *     \--close, stop------------------------------------------------------------------------/
 * </pre>
 *
 * <p>Signals of one worker come one after another, as Flow demands; requests and cancellations from anywhere. The lock guards the fields
 * below it; workers, guards and the {@link ClientEnd} are called outside.
 */
final class GuardedStream<Q, R> implements RoutedStream<R> {

    private final HostedRequest<Q, R> request;
    private final ResponseReader<R> reader;
    private final ClientEnd<R> client;

    private final Object lock = new Object();
    private Attempt<Q, R> attempt;
    private @Nullable WorkerEnd worker;
    private CancellationSignal.@Nullable Registration stopRegistration;
    private long demand;
    private long generated;
    private ResponseReader.End said = ResponseReader.End.NOT_YET;
    private boolean connected;
    private boolean draining;
    private boolean over;

    GuardedStream(HostedRequest<Q, R> request, ResponseReader<R> reader, HostObserver observer, Attempt<Q, R> first) {
        this.request = request;
        this.reader = reader;
        client = new ClientEnd<>(observer);
        attempt = first;
    }

    /** Begins to listen for the request's stop; apart from the constructor, because the stop may come at once. */
    GuardedStream<Q, R> open() {
        CancellationSignal.Registration registration = request.stopSignal().onCancel(() -> fail(request.stopReason()));
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

    boolean isUnread() {
        synchronized (lock) {
            return !connected && !over;
        }
    }

    @Override
    public void subscribe(Flow.Subscriber<? super R> subscriber) {
        Objects.requireNonNull(subscriber, "subscriber");
        Attempt<Q, R> first;
        synchronized (lock) {
            first = connected || over ? null : attempt;
            connected = true;
        }
        if (client.attach(subscriber, new Downstream()) == ClientEnd.Met.BROKEN) {
            left();
        }
        if (first != null) {
            connect(first);
        }
    }

    // ---------------------------------------------------------------------------------------------- the subscriber

    private final class Downstream implements Flow.Subscription {
        @Override
        public void request(long n) {
            if (n <= 0) {
                fail(new IllegalArgumentException("request: " + n + " (expected: >= 1)"));
                return;
            }
            ask(n);
        }

        @Override
        public void cancel() {
            client.gone();
            left();
        }
    }

    private void ask(long n) {
        WorkerEnd from;
        synchronized (lock) {
            demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
            from = worker;
        }
        if (from != null) {
            from.ask(n);
        }
    }

    @Override
    public void close() {
        if (left()) {
            // Whoever else holds the subscription learns that its response was dropped.
            client.fail(request.stopReason());
        }
    }

    /**
     * Nobody reads any more: ends the response, or drains it first where only that frees the staged KV.
     *
     * @return false if it was over or draining before
     */
    private boolean left() {
        boolean drains;
        Attempt<Q, R> unread;
        synchronized (lock) {
            if (over || draining) {
                return false;
            }
            drains = request.outlivesClient() && generated == 0;
            unread = drains && !connected ? attempt : null;
            draining = drains;
            connected |= drains;
        }
        if (!drains) {
            return finish(Ended.AS_SAID);
        }
        request.clientLeft();
        ask(Long.MAX_VALUE);
        if (unread != null) {
            connect(unread);
        }
        return true;
    }

    // ---------------------------------------------------------------------------------------------- the worker

    private void connect(Attempt<Q, R> to) {
        WorkerEnd end = new WorkerEnd(to);
        try {
            to.response().subscribe(end);
        } catch (Throwable broken) {
            // Whatever it is: the client is waiting and the booking is held.
            end.onError(broken);
        }
    }

    /** One worker's signals. Holds it to the rules: one subscription, and nothing after its end. */
    private final class WorkerEnd implements Flow.Subscriber<R> {
        private final Attempt<Q, R> mine;
        /** Both guarded by the stream's lock. */
        private Flow.@Nullable Subscription subscription;

        private boolean done;

        WorkerEnd(Attempt<Q, R> mine) {
            this.mine = mine;
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            Objects.requireNonNull(given, "subscription");
            boolean refused;
            long carried;
            synchronized (lock) {
                refused = over || done || subscription != null;
                carried = demand;
                if (!refused) {
                    subscription = given;
                    worker = this;
                }
            }
            if (refused) {
                GuardedObserver.guard(given::cancel);
            } else if (carried > 0) {
                ask(carried);
            }
        }

        void ask(long n) {
            Flow.Subscription from;
            synchronized (lock) {
                from = done ? null : subscription;
            }
            if (from == null) {
                return;
            }
            try {
                from.request(n);
            } catch (Throwable broken) {
                onError(broken);
            }
        }

        /** Nothing more is wanted from this worker. */
        void cancel() {
            Flow.Subscription last;
            synchronized (lock) {
                last = done ? null : subscription;
                done = true;
            }
            if (last != null) {
                GuardedObserver.guard(last::cancel);
            }
        }

        @Override
        public void onNext(R item) {
            ResponseReader.Item read;
            try {
                read = reader.read(Objects.requireNonNull(item, "item"));
            } catch (RuntimeException unreadable) {
                fail(unreadable);
                return;
            }
            boolean drained;
            synchronized (lock) {
                if (over || done) {
                    return;
                }
                if (demand != Long.MAX_VALUE && demand > 0) {
                    demand--;
                }
                generated += read.tokens();
                said = read.end() == ResponseReader.End.NOT_YET ? said : read.end();
                drained = draining && generated > 0;
            }
            mine.guard().item(read.tokens());
            AffinityLease lease = mine.lease();
            if (lease != null && read.tokens() > 0) {
                GuardedObserver.guard(lease::firstToken);
            }
            if (drained) {
                finish(Ended.AS_SAID);
            } else if (client.next(item) == ClientEnd.Met.BROKEN) {
                left();
            }
        }

        @Override
        public void onComplete() {
            if (ends() && finish(Ended.COMPLETE)) {
                client.complete();
            }
        }

        @Override
        public void onError(Throwable failure) {
            if (ends()) {
                broken(mine, Objects.requireNonNullElseGet(failure, () -> new NullPointerException("failure")));
            }
        }

        private boolean ends() {
            synchronized (lock) {
                boolean first = !done && !over;
                done = true;
                if (worker == this) {
                    worker = null;
                }
                return first;
            }
        }
    }

    private void broken(Attempt<Q, R> mine, Throwable failure) {
        long soFar;
        boolean mayGoOn;
        synchronized (lock) {
            soFar = generated;
            // After the response said that it ended there is nothing to go on with, and nobody to go on for after he
            // left.
            mayGoOn = !over && !draining && said == ResponseReader.End.NOT_YET;
        }
        Optional<CompletableFuture<Attempt<Q, R>>> next =
                mayGoOn ? request.migrate(mine, soFar, failure) : Optional.empty();
        if (next.isEmpty()) {
            fail(failure);
            return;
        }
        next.get().whenComplete((moved, refused) -> {
            if (refused == null) {
                goOn(moved);
            } else {
                Throwable error = request.why(Failures.unwrap(refused));
                HostedRequest.tellBoth(error, failure);
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
            }
        }
        if (late) {
            Dropped.drop(moved.response());
            letGo(moved, false);
        } else {
            connect(moved);
        }
    }

    // ---------------------------------------------------------------------------------------------- the end

    private void fail(Throwable failure) {
        if (finish(Ended.BADLY)) {
            client.fail(failure);
        }
    }

    private enum Ended {
        /** The worker completed it. */
        COMPLETE,
        /** Nobody reads any more; the response counts as what its items said. */
        AS_SAID,
        BADLY
    }

    /** Ends the response once, and stops the worker if it has not ended; false if it was over. */
    private boolean finish(Ended how) {
        Attempt<Q, R> last;
        WorkerEnd from;
        boolean unread;
        boolean well;
        CancellationSignal.Registration registration;
        synchronized (lock) {
            if (over) {
                return false;
            }
            over = true;
            last = attempt;
            from = worker;
            unread = !connected;
            registration = stopRegistration;
            well = switch (how) {
                case COMPLETE -> said != ResponseReader.End.BADLY;
                case AS_SAID -> said == ResponseReader.End.WELL;
                case BADLY -> false;
            };
        }
        if (registration != null) {
            registration.close();
        }
        letGo(last, well);
        request.over();
        if (from != null) {
            from.cancel();
        } else if (unread) {
            Dropped.drop(last.response());
        }
        return true;
    }

    private static void letGo(Attempt<?, ?> ended, boolean well) {
        ended.guard().finish();
        AffinityLease lease = ended.lease();
        if (lease != null) {
            if (well) {
                GuardedObserver.guard(lease::succeeded);
            }
            GuardedObserver.guard(lease::close);
        }
    }
}

package dev.tandemkv.coordinator.host;

import java.util.concurrent.Flow;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The subscriber's side of a response, as Flow demands it: {@code onSubscribe} first, one signal after another, one end last and nothing
 * after it, whichever threads they come from. An end that comes while a signal is being delivered follows it on that signal's thread; an
 * end that comes before there is a subscriber is kept for it.
 *
 * <p>Thread-safe. The lock guards the fields below it; the subscriber is called outside.
 */
final class ClientEnd<R> {

    /** What a signal was met with. */
    enum Met {
        TAKEN,
        /** The subscriber threw, which counts as having cancelled. */
        BROKEN
    }

    /** For a subscriber that is told of a failure only. */
    private record Nothing() implements Flow.Subscription {
        @Override
        public void request(long n) {}

        @Override
        public void cancel() {}
    }

    private final HostObserver observer;

    private final Object lock = new Object();
    private Flow.@Nullable Subscriber<? super R> subscriber;
    /** Signals being delivered: one, or several of one thread, nested. */
    private int delivering;

    private boolean attached;
    private boolean gone;
    private @Nullable Consumer<Flow.Subscriber<? super R>> end;

    ClientEnd(HostObserver observer) {
        this.observer = observer;
    }

    /** Takes the one subscriber; a second one, and one that comes after the end, is told so. */
    Met attach(Flow.Subscriber<? super R> candidate, Flow.Subscription subscription) {
        Consumer<Flow.Subscriber<? super R>> refusal = null;
        synchronized (lock) {
            if (attached) {
                refusal = s -> s.onError(new IllegalStateException("the response has a subscriber"));
            } else {
                attached = true;
                refusal = end;
                if (refusal == null) {
                    subscriber = candidate;
                    delivering = 1;
                }
            }
        }
        if (refusal == null) {
            return deliver(candidate, s -> s.onSubscribe(subscription));
        }
        try {
            candidate.onSubscribe(new Nothing());
            refusal.accept(candidate);
        } catch (Throwable broken) {
            observer.onWarning("subscriber", broken);
        }
        return Met.TAKEN;
    }

    Met next(R item) {
        Flow.Subscriber<? super R> to;
        synchronized (lock) {
            to = subscriber;
            if (to == null || end != null) {
                return Met.TAKEN;
            }
            delivering++;
        }
        return deliver(to, s -> s.onNext(item));
    }

    void complete() {
        end(Flow.Subscriber::onComplete);
    }

    void fail(Throwable failure) {
        end(s -> s.onError(failure));
    }

    /** The subscriber wants nothing any more. */
    void gone() {
        synchronized (lock) {
            gone = true;
            subscriber = null;
        }
    }

    private Met deliver(Flow.Subscriber<? super R> to, Consumer<Flow.Subscriber<? super R>> signal) {
        Met met = Met.TAKEN;
        try {
            signal.accept(to);
        } catch (Throwable broken) {
            // Whatever it is, it is the subscriber's, and the worker and the booking must not be left behind.
            met = Met.BROKEN;
            gone();
            observer.onWarning("subscriber", broken);
        }
        Consumer<Flow.Subscriber<? super R>> due;
        synchronized (lock) {
            delivering--;
            due = dueEnd();
        }
        tell(to, due);
        return met;
    }

    private void end(Consumer<Flow.Subscriber<? super R>> signal) {
        Flow.Subscriber<? super R> to;
        Consumer<Flow.Subscriber<? super R>> due;
        synchronized (lock) {
            if (end == null) {
                end = signal;
            }
            to = subscriber;
            due = dueEnd();
        }
        tell(to, due);
    }

    /** Under the lock: the end, if it can be told now; only the first caller gets it. */
    private @Nullable Consumer<Flow.Subscriber<? super R>> dueEnd() {
        if (end == null || gone || subscriber == null || delivering > 0) {
            return null;
        }
        subscriber = null;
        return end;
    }

    private void tell(Flow.@Nullable Subscriber<? super R> to, @Nullable Consumer<Flow.Subscriber<? super R>> signal) {
        if (to == null || signal == null) {
            return;
        }
        try {
            signal.accept(to);
        } catch (Throwable broken) {
            observer.onWarning("subscriber", broken);
        }
    }
}

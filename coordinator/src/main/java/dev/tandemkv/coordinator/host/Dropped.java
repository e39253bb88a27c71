package dev.tandemkv.coordinator.host;

import dev.tandemkv.coordinator.internal.GuardedObserver;
import java.util.concurrent.Flow;

/** Subscribes only to cancel: tells a worker that nobody wants its response. */
final class Dropped implements Flow.Subscriber<Object> {

    private Dropped() {}

    static void drop(Flow.Publisher<?> response) {
        GuardedObserver.guard(() -> response.subscribe(new Dropped()));
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        subscription.cancel();
    }

    @Override
    public void onNext(Object item) {}

    @Override
    public void onError(Throwable failure) {}

    @Override
    public void onComplete() {}
}

package dev.tandemkv.coordinator.host;

import dev.tandemkv.selection.Selection;
import java.util.concurrent.Flow;

/** What the caller holds of a response; nothing inside refers to it, so that its loss can be noticed. Immutable. */
final class StreamHandle<R> implements RoutedStream<R> {

    private final GuardedStream<?, R> stream;

    StreamHandle(GuardedStream<?, R> stream) {
        this.stream = stream;
    }

    @Override
    public Selection selection() {
        return stream.selection();
    }

    @Override
    public void subscribe(Flow.Subscriber<? super R> subscriber) {
        stream.subscribe(subscriber);
    }

    @Override
    public void close() {
        stream.close();
    }
}

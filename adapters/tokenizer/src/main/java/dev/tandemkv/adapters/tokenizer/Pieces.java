package dev.tandemkv.adapters.tokenizer;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Publishes buffers as they are, without copying them; every subscriber gets views of its own.
 *
 * <p>A subscription's position is touched by whoever holds its demand, one at a time: {@code wanted} goes from 0 for one caller only.
 */
final class Pieces implements Flow.Publisher<ByteBuffer> {

    private final List<ByteBuffer> pieces;

    Pieces(List<ByteBuffer> pieces) {
        this.pieces = pieces;
    }

    /** How many bytes there are in all. */
    static long bytes(List<ByteBuffer> pieces) {
        long bytes = 0;
        for (ByteBuffer piece : pieces) {
            bytes += piece.remaining();
        }
        return bytes;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super ByteBuffer> subscriber) {
        subscriber.onSubscribe(new Delivery(subscriber));
    }

    private final class Delivery implements Flow.Subscription {
        private final Flow.Subscriber<? super ByteBuffer> subscriber;
        private final AtomicLong wanted = new AtomicLong();
        private volatile boolean over;
        private int next;

        Delivery(Flow.Subscriber<? super ByteBuffer> subscriber) {
            this.subscriber = subscriber;
        }

        @Override
        public void request(long n) {
            if (over) {
                return;
            }
            if (n <= 0) {
                over = true;
                subscriber.onError(new IllegalArgumentException("demand: " + n + " (expected: >= 1)"));
                return;
            }
            if (wanted.getAndUpdate(before -> before + n < 0 ? Long.MAX_VALUE : before + n) == 0) {
                deliver();
            }
        }

        private void deliver() {
            do {
                if (over) {
                    return;
                }
                if (next < pieces.size()) {
                    subscriber.onNext(pieces.get(next++).asReadOnlyBuffer());
                }
                if (next == pieces.size() && !over) {
                    over = true;
                    subscriber.onComplete();
                    return;
                }
            } while (wanted.decrementAndGet() > 0);
        }

        @Override
        public void cancel() {
            over = true;
        }
    }
}

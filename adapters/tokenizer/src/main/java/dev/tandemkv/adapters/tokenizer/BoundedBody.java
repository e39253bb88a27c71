package dev.tandemkv.adapters.tokenizer;

import dev.tandemkv.adapters.tokenizer.TokenizerException.Failure;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Collects an answer's bytes up to a limit; more of them fail it and close the connection. Its signals come one at a time. */
final class BoundedBody implements BodySubscriber<byte[]> {

    private final BodySubscriber<byte[]> bytes = BodySubscribers.ofByteArray();
    private final int limit;
    private long received;
    private Flow.@Nullable Subscription subscription;

    BoundedBody(int limit) {
        this.limit = limit;
    }

    @Override
    public CompletionStage<byte[]> getBody() {
        return bytes.getBody();
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        this.subscription = subscription;
        bytes.onSubscribe(subscription);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        for (ByteBuffer buffer : buffers) {
            received += buffer.remaining();
        }
        if (received > limit) {
            Objects.requireNonNull(subscription).cancel();
            bytes.onError(new TokenizerException(
                    Failure.UPSTREAM, "the tokenizer's answer is larger than " + limit + " bytes", null));
        } else {
            bytes.onNext(buffers);
        }
    }

    @Override
    public void onError(Throwable failure) {
        bytes.onError(failure);
    }

    @Override
    public void onComplete() {
        bytes.onComplete();
    }
}

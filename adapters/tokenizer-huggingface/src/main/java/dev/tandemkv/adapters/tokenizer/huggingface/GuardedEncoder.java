package dev.tandemkv.adapters.tokenizer.huggingface;

import dev.tandemkv.adapters.tokenizer.TokenizerException;
import dev.tandemkv.adapters.tokenizer.TokenizerException.Failure;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Keeps an encoder open while it is used. {@code users} counts the running encodings, and one more until {@link #close}; whoever takes it
 * to 0 frees the encoder, and from 0 it never rises. All methods: any thread.
 */
final class GuardedEncoder implements AutoCloseable {

    private final Encoder encoder;
    private final AtomicInteger users = new AtomicInteger(1);
    private final AtomicBoolean closed = new AtomicBoolean();

    GuardedEncoder(Encoder encoder) {
        this.encoder = encoder;
    }

    int[] encode(String text, SpecialTokens special) {
        if (closed.get() || users.getAndUpdate(n -> n == 0 ? 0 : n + 1) == 0) {
            throw new TokenizerException(Failure.UNAVAILABLE, "the tokenizer is closed", null);
        }
        try {
            return narrow(encoder.encode(text, special));
        } finally {
            leave();
        }
    }

    private static int[] narrow(long[] ids) {
        int[] narrow = new int[ids.length];
        for (int i = 0; i < ids.length; i++) {
            if (ids[i] >>> 32 != 0) {
                throw new TokenizerException(
                        Failure.UPSTREAM, "the tokenizer gave a token beyond 32 bits at position " + i, null);
            }
            narrow[i] = (int) ids[i];
        }
        return narrow;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            leave();
        }
    }

    private void leave() {
        if (users.decrementAndGet() == 0) {
            encoder.close();
        }
    }
}

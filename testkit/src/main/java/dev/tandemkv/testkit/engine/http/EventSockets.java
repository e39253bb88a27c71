package dev.tandemkv.testkit.engine.http;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The sockets over which one engine announces what it caches, opened by the caller.
 *
 * @param endpoint where subscribers connect to
 * @param replayEndpoint where replay clients connect to, or {@code null} for none
 * @param publish sends the frames of one live message
 * @param thread runs work on the one thread that also calls the {@link Responder}, in order
 * @param close closes them
 */
public record EventSockets(
        String endpoint,
        @Nullable String replayEndpoint,
        Consumer<List<byte[]>> publish,
        Executor thread,
        Runnable close) {

    public EventSockets {
        Objects.requireNonNull(endpoint, "endpoint");
        Objects.requireNonNull(publish, "publish");
        Objects.requireNonNull(thread, "thread");
        Objects.requireNonNull(close, "close");
    }

    /** Answers replay requests; called on the sockets' thread alone. */
    @FunctionalInterface
    public interface Responder {
        void answer(List<byte[]> request, Consumer<List<byte[]>> reply);
    }

    /** Opens the sockets of one engine. */
    @FunctionalInterface
    public interface Opener {
        EventSockets open(Responder responder);
    }
}

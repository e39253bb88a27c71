package dev.tandemkv.adapters.extproc;

import dev.tandemkv.adapters.tokenizer.TokenizerException;
import dev.tandemkv.catalog.SelectionException;
import java.time.Duration;
import java.util.concurrent.CompletionException;

/** An answer of the picker's own instead of a destination. Its text goes to the client and carries nothing of the request's content. */
final class Refusal extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int status;
    private final SelectionException.Kind kind;
    private final boolean retryable;

    private Refusal(int status, SelectionException.Kind kind, boolean retryable, String text) {
        super(text, null, false, false);
        this.status = status;
        this.kind = kind;
        this.retryable = retryable;
    }

    static Refusal badRequest(String text) {
        return new Refusal(400, SelectionException.Kind.BAD_REQUEST, false, text);
    }

    static Refusal bodyTooLarge(int limit) {
        return new Refusal(
                413,
                SelectionException.Kind.BAD_REQUEST,
                false,
                "body: larger than the limit (expected: <= " + limit + " bytes)");
    }

    static Refusal headersTooLarge(long bytes, int limit) {
        return new Refusal(
                431,
                SelectionException.Kind.BAD_REQUEST,
                false,
                "headers: " + bytes + " bytes (expected: <= " + limit + ")");
    }

    static Refusal tooManyInFlight(int limit) {
        return new Refusal(
                429,
                SelectionException.Kind.OVERLOADED,
                true,
                "too many requests wait for a decision (limit: " + limit + ")");
    }

    static Refusal tooManyBytes(long limit) {
        return new Refusal(
                429,
                SelectionException.Kind.OVERLOADED,
                true,
                "too many bytes of requests wait for a decision (limit: " + limit + ")");
    }

    static Refusal bodyTooSlow(Duration limit) {
        return new Refusal(
                408,
                SelectionException.Kind.DEADLINE_EXCEEDED,
                true,
                "body: not complete in time (expected: within " + limit + ")");
    }

    static Refusal noEndpoint(String text) {
        return new Refusal(503, SelectionException.Kind.NO_ELIGIBLE_WORKER, true, text);
    }

    /** What a failure means to the client: the status map of the gateway protocol. */
    static Refusal of(Throwable failure) {
        Throwable cause = failure;
        while (cause instanceof CompletionException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        if (cause instanceof Refusal refusal) {
            return refusal;
        }
        if (cause instanceof TokenizerException tokenizer) {
            return new Refusal(
                    tokenizer.failure().gatewayStatus(), tokenizer.kind(), tokenizer.retryable(), text(tokenizer));
        }
        if (cause instanceof SelectionException typed) {
            return new Refusal(status(typed.kind()), typed.kind(), typed.retryable(), text(typed));
        }
        return new Refusal(503, SelectionException.Kind.INTERNAL, false, "routing failed");
    }

    private static int status(SelectionException.Kind kind) {
        return switch (kind) {
            case BAD_REQUEST, EXCEEDS_CAPACITY, OVERLOADED, QUEUE_REJECTED, DEADLINE_EXCEEDED -> kind.httpStatus();
            case NOT_FOUND,
                    CONFLICT,
                    CANCELLED,
                    INTERNAL,
                    NOT_READY,
                    NO_ELIGIBLE_WORKER,
                    WORKER_GONE,
                    INDEX_OFFLINE,
                    SHUTDOWN,
                    UNAVAILABLE -> 503;
        };
    }

    private static String text(SelectionException failure) {
        String text = failure.getMessage();
        return text == null ? failure.kind().name() : text;
    }

    int status() {
        return status;
    }

    SelectionException.Kind kind() {
        return kind;
    }

    boolean retryable() {
        return retryable;
    }

    String text() {
        String text = getMessage();
        return text == null ? kind.name() : text;
    }
}

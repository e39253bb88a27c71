package dev.tandemkv.adapters.tokenizer;

import dev.tandemkv.catalog.SelectionException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A prompt could not be tokenized. The message never carries the client's text. */
public final class TokenizerException extends SelectionException {

    private static final long serialVersionUID = 1L;

    /** What went wrong, with the status that a gateway answers. */
    public enum Failure {
        /** The tokenizer refused the request, or it is beyond a limit of ours. */
        INVALID_REQUEST(Kind.BAD_REQUEST, 400),
        /** The tokenizer answered something unusable. */
        UPSTREAM(Kind.UNAVAILABLE, 502),
        /** The tokenizer could not be reached, is overloaded, or is closed. */
        UNAVAILABLE(Kind.UNAVAILABLE, 503),
        /** The tokenizer did not answer in time. */
        TIMEOUT(Kind.UNAVAILABLE, 504);

        private final Kind kind;
        private final int gatewayStatus;

        Failure(Kind kind, int gatewayStatus) {
            this.kind = kind;
            this.gatewayStatus = gatewayStatus;
        }

        /** The status a gateway answers; finer than {@link SelectionException#httpStatus()}. */
        public int gatewayStatus() {
            return gatewayStatus;
        }
    }

    private final Failure failure;

    public TokenizerException(Failure failure, String message, @Nullable Throwable cause) {
        super(failure.kind, message, cause);
        this.failure = Objects.requireNonNull(failure, "failure");
    }

    public Failure failure() {
        return failure;
    }
}

package dev.tandemkv.selection;

import dev.tandemkv.catalog.SelectionException;
import org.jspecify.annotations.Nullable;

/**
 * A pool could not be reached or did not answer in time: whether it carried the call out is unknown. Kind
 * {@link SelectionException.Kind#UNAVAILABLE}.
 */
public final class PoolUnavailableException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final String operation;

    /**
     * @param operation the call whose outcome is unknown
     * @param detail what went wrong
     * @param cause what the transport threw, or {@code null}
     */
    public PoolUnavailableException(String operation, String detail, @Nullable Throwable cause) {
        super(Kind.UNAVAILABLE, operation + ": " + detail + " (outcome unknown)", cause);
        this.operation = operation;
    }

    public String operation() {
        return operation;
    }
}

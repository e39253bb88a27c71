package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.SelectionException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Staged KV cannot be used: it expired, failed or was used already. The caller prefills again. Kind {@code DEADLINE_EXCEEDED} if it expired,
 * {@code CANCELLED} if the client left, {@code WORKER_GONE} if its worker did, else {@code CONFLICT}.
 */
public final class HandOverException extends SelectionException {

    private static final long serialVersionUID = 1L;

    private final long handOverId;
    private final HandOver.Status status;

    HandOverException(Kind kind, long handOverId, HandOver.Status status, @Nullable Throwable cause) {
        super(kind, "hand-over " + Long.toUnsignedString(handOverId) + " is " + status, cause);
        this.handOverId = handOverId;
        this.status = Objects.requireNonNull(status, "status");
    }

    public long handOverId() {
        return handOverId;
    }

    public HandOver.Status status() {
        return status;
    }
}

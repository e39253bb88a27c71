package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.WorkerGoneException;
import org.jspecify.annotations.Nullable;

/**
 * KV on its way from a prefill worker to a decode worker, from the dispatch of prefill to exactly one end.
 *
 * <pre>
 * OPEN --last part--> STAGED --taken--> DONE
 *   |                   |  \--deadline--> EXPIRED
 *   \--worker gone, leg failed, client gone--> FAILED
 * </pre>
 *
 * <p>Thread-safe. The lock guards the fields below it; the host's port is called outside.
 */
public final class HandOver {

    /** Where it stands. */
    public enum Status {
        /** Parts are missing. */
        OPEN,
        /** Complete; the deadline runs. */
        STAGED,
        /** Decode took it. Terminal. */
        DONE,
        /** It will not be used. Terminal. */
        FAILED,
        /** Nobody took it in time. Terminal. */
        EXPIRED;

        public boolean isEnd() {
            return this != OPEN && this != STAGED;
        }
    }

    /** What a client that leaves brings about. */
    public enum AfterDisconnect {
        /** Prefill was still running and has been cancelled. */
        PREFILL_CANCELLED,
        /** The host still dispatches decode, and drains it. */
        DISPATCH_DECODE,
        /** The staged KV has been cleaned up. */
        CLEANED_UP,
        /** The engine frees the staged KV by itself. */
        EXPIRES,
        /** It had ended before. */
        NOTHING
    }

    private final HandOvers owner;
    private final long id;
    private final BookingId prefill;

    private final Object lock = new Object();
    private int missingParts;
    private Status status = Status.OPEN;
    private @Nullable Throwable cause;
    private Scheduler.@Nullable Task deadline;
    private boolean clientGone;

    HandOver(HandOvers owner, long id, BookingId prefill, int parts) {
        this.owner = owner;
        this.id = id;
        this.prefill = prefill;
        missingParts = parts;
    }

    /** Minted by the coordinator; positive as a signed 64-bit value. */
    public long id() {
        return id;
    }

    /** The booking of the prefill leg. */
    public BookingId prefill() {
        return prefill;
    }

    public Status status() {
        synchronized (lock) {
            return status;
        }
    }

    /** Why it failed, or {@code null}. */
    public @Nullable Throwable cause() {
        synchronized (lock) {
            return cause;
        }
    }

    /** A part of the prefill result has arrived. The deadline counts from the last one. Does nothing after the end. */
    public void partArrived() {
        synchronized (lock) {
            if (status != Status.OPEN || --missingParts > 0) {
                return;
            }
            status = Status.STAGED;
            deadline = owner.scheduler().schedule(owner.deadline(), this::expire);
        }
    }

    /**
     * Decode takes the staged KV, before it is dispatched. Only the first taker gets it.
     *
     * @throws HandOverException if there is nothing to take (any more): the caller prefills again
     */
    public void take() {
        synchronized (lock) {
            if (status != Status.STAGED) {
                throw unusable();
            }
            end(Status.DONE, null);
        }
        owner.ended(this);
    }

    private HandOverException unusable() {
        return new HandOverException(kind(), id, status, cause);
    }

    private Kind kind() {
        if (status == Status.EXPIRED) {
            return Kind.DEADLINE_EXCEEDED;
        }
        return status == Status.FAILED && cause instanceof SelectionException typed ? typed.kind() : Kind.CONFLICT;
    }

    /** One of the legs failed. Does nothing after the end. */
    public void fail(Throwable failure) {
        if (endIfOpen(Status.FAILED, failure)) {
            owner.ended(this);
        }
    }

    void workerRemoved() {
        fail(new WorkerGoneException(prefill.worker()));
    }

    private void expire() {
        if (endIfOpen(Status.EXPIRED, null)) {
            owner.ended(this);
        }
    }

    /** The client has left. Repeated, it does nothing. */
    public AfterDisconnect clientGone() {
        AfterDisconnect after;
        synchronized (lock) {
            after = clientGone ? AfterDisconnect.NOTHING : afterDisconnect();
            clientGone = true;
            if (after == AfterDisconnect.PREFILL_CANCELLED || after == AfterDisconnect.CLEANED_UP) {
                end(Status.FAILED, new CancelledException("request of hand-over " + Long.toUnsignedString(id)));
            }
        }
        switch (after) {
            case PREFILL_CANCELLED -> owner.cancelled(this);
            case CLEANED_UP -> owner.cleanedUp(this);
            default -> {}
        }
        return after;
    }

    private AfterDisconnect afterDisconnect() {
        return switch (status) {
            case OPEN -> AfterDisconnect.PREFILL_CANCELLED;
            case STAGED ->
                switch (owner.disconnectPolicy()) {
                    case DISPATCH_AND_DRAIN -> AfterDisconnect.DISPATCH_DECODE;
                    case ABORT -> AfterDisconnect.CLEANED_UP;
                    case LET_EXPIRE -> AfterDisconnect.EXPIRES;
                };
            case DONE, FAILED, EXPIRED -> AfterDisconnect.NOTHING;
        };
    }

    private boolean endIfOpen(Status to, @Nullable Throwable failure) {
        synchronized (lock) {
            if (status.isEnd()) {
                return false;
            }
            end(to, failure);
            return true;
        }
    }

    /** Under the lock. */
    private void end(Status to, @Nullable Throwable failure) {
        status = to;
        cause = failure;
        if (deadline != null) {
            deadline.cancel();
            deadline = null;
        }
    }
}

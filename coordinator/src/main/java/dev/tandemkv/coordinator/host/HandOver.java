package dev.tandemkv.coordinator.host;

import dev.tandemkv.catalog.CancelledException;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.coordinator.Leg;
import dev.tandemkv.coordinator.internal.Timers;
import dev.tandemkv.selection.BookingId;
import dev.tandemkv.selection.WorkerGoneException;
import java.util.BitSet;
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
        /** The host still dispatches decode, and drains it; if it does not within the bound, the staged KV is cleaned up. */
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
    private final int parts;

    private final Object lock = new Object();
    private final BitSet missingParts;
    private Status status = Status.OPEN;
    private @Nullable Throwable cause;
    private Scheduler.@Nullable Task deadline;
    private Scheduler.@Nullable Task disconnectBound;
    private boolean clientGone;
    /** The engine was told, once, that nobody will use what prefill produced. */
    private boolean cleared;

    HandOver(HandOvers owner, long id, BookingId prefill, int parts) {
        this.owner = owner;
        this.id = id;
        this.prefill = prefill;
        this.parts = parts;
        missingParts = new BitSet(parts);
        missingParts.set(0, parts);
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

    /** The only part has arrived, or the first of several. */
    public void partArrived() {
        partArrived(0);
    }

    /**
     * A part of the prefill result has arrived. The deadline counts from the last one. Reported again, and after the end, it does nothing.
     *
     * @param part from 0, below the number of parts that are expected
     */
    public void partArrived(int part) {
        if (part < 0 || part >= parts) {
            throw new IllegalArgumentException("part: " + part + " (expected: 0 to " + (parts - 1) + ')');
        }
        boolean unbounded = false;
        synchronized (lock) {
            missingParts.clear(part);
            if (status != Status.OPEN || !missingParts.isEmpty()) {
                return;
            }
            status = Status.STAGED;
            deadline = Timers.start(owner.scheduler(), owner.deadline(), this::expire);
            unbounded = deadline == null;
        }
        if (unbounded) {
            fail(Leg.DECODE, Timers.refused("hand-over " + Long.toUnsignedString(id)));
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

    /**
     * One of the legs failed. What prefill left behind is cleared once: a prefill that still runs is cancelled if decode failed, and staged KV
     * is cleaned up, also KV that decode took but did not admit. Otherwise nothing happens after the end.
     */
    public void fail(Leg leg, Throwable failure) {
        Clearing clearing;
        boolean ends;
        synchronized (lock) {
            clearing = leg == Leg.DECODE || status == Status.STAGED ? clear() : Clearing.NONE;
            ends = endUnlessEnded(failure);
        }
        carryOut(clearing, ends);
    }

    /** Whatever was staged is gone with its worker. */
    void workerRemoved() {
        boolean ends;
        synchronized (lock) {
            ends = endUnlessEnded(new WorkerGoneException(prefill.worker()));
        }
        carryOut(Clearing.NONE, ends);
    }

    /** Under the lock. */
    private boolean endUnlessEnded(Throwable failure) {
        if (status.isEnd()) {
            return false;
        }
        end(Status.FAILED, failure);
        return true;
    }

    private void expire() {
        Clearing clearing;
        synchronized (lock) {
            if (status.isEnd()) {
                return;
            }
            // Decode was still to be dispatched for a client that left, and was not: the KV must not stay for it.
            boolean undelivered = clientGone && owner.disconnectPolicy() == DisconnectPolicy.DISPATCH_AND_DRAIN;
            clearing = undelivered ? clear() : Clearing.NONE;
            end(Status.EXPIRED, null);
        }
        carryOut(clearing, true);
    }

    /** The client has left. Repeated, it does nothing. */
    public AfterDisconnect clientGone() {
        AfterDisconnect after;
        Clearing clearing = Clearing.NONE;
        boolean ends;
        boolean unbounded = false;
        synchronized (lock) {
            after = clientGone ? AfterDisconnect.NOTHING : afterDisconnect();
            clientGone = true;
            ends = after == AfterDisconnect.PREFILL_CANCELLED || after == AfterDisconnect.CLEANED_UP;
            if (ends) {
                clearing = clear();
                end(Status.FAILED, new CancelledException("request of hand-over " + Long.toUnsignedString(id)));
            } else if (after != AfterDisconnect.NOTHING) {
                disconnectBound = Timers.start(owner.scheduler(), owner.disconnectBound(), this::expire);
                unbounded = disconnectBound == null;
            }
        }
        carryOut(clearing, ends);
        if (unbounded) {
            fail(Leg.DECODE, Timers.refused("hand-over " + Long.toUnsignedString(id)));
        }
        return after;
    }

    /** What the prefill worker is told. */
    private enum Clearing {
        NONE,
        CANCEL_PREFILL,
        CLEAN_UP
    }

    /** Under the lock, before the state moves. */
    private Clearing clear() {
        boolean nothingThere = status == Status.FAILED || status == Status.EXPIRED;
        if (cleared || nothingThere) {
            return Clearing.NONE;
        }
        cleared = true;
        return status == Status.OPEN ? Clearing.CANCEL_PREFILL : Clearing.CLEAN_UP;
    }

    private void carryOut(Clearing clearing, boolean ended) {
        switch (clearing) {
            case CANCEL_PREFILL -> owner.cancelPrefill(this);
            case CLEAN_UP -> owner.cleanUp(this);
            case NONE -> {}
        }
        if (ended) {
            owner.ended(this);
        }
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

    /** Under the lock. */
    private void end(Status to, @Nullable Throwable failure) {
        status = to;
        cause = failure;
        cancel(deadline);
        cancel(disconnectBound);
    }

    private static void cancel(Scheduler.@Nullable Task timer) {
        if (timer != null) {
            timer.cancel();
        }
    }
}

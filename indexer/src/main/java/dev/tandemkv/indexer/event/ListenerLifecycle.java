package dev.tandemkv.indexer.event;

import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The life of one rank's listener, without its sockets: the adapter reports what it did, this says whether that still counts. Thread-safe.
 *
 * <p>{@code PENDING -> BUFFERING} (subscribed: messages wait in the socket) {@code -> CATCHING_UP} (snapshots are restored, the replay
 * socket is connected, the waiting messages are drained) {@code -> ACTIVE} (drained and flushed into the index). Each attempt has a number;
 * a report that carries an older one changes nothing, so an abandoned attempt cannot disturb its successor. The {@link EventCursor} outlives
 * pauses and attempts: it belongs to the feed.
 */
public final class ListenerLifecycle {

    /** Where a listener is. */
    public enum State {
        PENDING,
        BUFFERING,
        CATCHING_UP,
        ACTIVE,
        PAUSED,
        FAILED
    }

    /** The legal edges of one attempt. Pausing and beginning anew are possible from everywhere. */
    private static final Map<State, Set<State>> EDGES = new EnumMap<>(Map.of(
            State.PENDING, EnumSet.of(State.BUFFERING, State.FAILED),
            State.BUFFERING, EnumSet.of(State.CATCHING_UP, State.FAILED),
            State.CATCHING_UP, EnumSet.of(State.ACTIVE, State.FAILED),
            State.ACTIVE, EnumSet.of(State.FAILED),
            State.PAUSED, EnumSet.noneOf(State.class),
            State.FAILED, EnumSet.noneOf(State.class)));

    private final Object lock = new Object();
    private State state = State.PENDING;
    private long attempt;
    private @Nullable String failure;

    private ListenerLifecycle() {}

    /** A listener that has not begun. */
    public static ListenerLifecycle create() {
        return new ListenerLifecycle();
    }

    /** Starts an attempt, at first or after a pause or failure, and makes every earlier one stale. Returns its number. */
    public long begin() {
        return enter(State.PENDING);
    }

    /** Stops listening on the host's wish; the attempt under way becomes stale. */
    public void pause() {
        enter(State.PAUSED);
    }

    private long enter(State next) {
        synchronized (lock) {
            state = next;
            failure = null;
            return ++attempt;
        }
    }

    /** The subscription is connected. */
    public boolean subscribed(long ofAttempt) {
        return move(ofAttempt, State.BUFFERING, null);
    }

    /** Peer recovery is over, and the replay socket is connected. */
    public boolean ready(long ofAttempt) {
        return move(ofAttempt, State.CATCHING_UP, null);
    }

    /** What waited in the socket has been offered to the feed. */
    public boolean drained(long ofAttempt) {
        return move(ofAttempt, State.ACTIVE, null);
    }

    /** The attempt failed; another one may begin. */
    public boolean failed(long ofAttempt, String cause) {
        return move(ofAttempt, State.FAILED, cause);
    }

    /** Whether the report counted: it was of the present attempt, and possible in its state. */
    private boolean move(long ofAttempt, State next, @Nullable String cause) {
        synchronized (lock) {
            if (ofAttempt != attempt || !EDGES.getOrDefault(state, Set.of()).contains(next)) {
                return false;
            }
            state = next;
            failure = cause;
            return true;
        }
    }

    public State state() {
        synchronized (lock) {
            return state;
        }
    }

    /** Why the listener failed; {@code null} in every other state. */
    public @Nullable String failure() {
        synchronized (lock) {
            return failure;
        }
    }

    /**
     * The state of a worker from those of its ranks: {@code FAILED} if any failed, else {@code PENDING} if any is on its way, else {@code
     * ACTIVE} if any is, else {@code PAUSED}.
     */
    public static State ofWorker(Collection<State> ranks) {
        if (ranks.contains(State.FAILED)) {
            return State.FAILED;
        }
        if (ranks.contains(State.PENDING) || ranks.contains(State.BUFFERING) || ranks.contains(State.CATCHING_UP)) {
            return State.PENDING;
        }
        return ranks.contains(State.ACTIVE) ? State.ACTIVE : State.PAUSED;
    }
}

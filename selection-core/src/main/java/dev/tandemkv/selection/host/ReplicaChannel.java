package dev.tandemkv.selection.host;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * How replicas of a gateway tell each other what they booked and which session sticks where. Best effort: what is published may be lost,
 * doubled, reordered or delivered to its own sender, and no booking depends on its arrival. Implementations are thread-safe. The host that
 * lends a channel closes it, after the core.
 */
public interface ReplicaChannel extends AutoCloseable {

    /** The topic, and with it the version of the schema, of bookings. */
    String BOOKINGS = "dynamo.slot-tracker.v1";

    /** The topic of session bindings. */
    String SESSIONS = "dynamo.session-affinity.v1";

    /** What became of a message. */
    enum Outcome {
        /** On its way. */
        ACCEPTED,
        /** Given up at once, for example because a queue is full. */
        DROPPED
    }

    /** Hands a message over without waiting. The array belongs to the channel afterwards. */
    Outcome publish(String topic, byte[] payload);

    /** Calls the handler with every message of a topic, from now on, on any thread. */
    void subscribe(String topic, Handler handler);

    /**
     * Calls the listener, on any thread, whenever a peer begins to hear what is published here, or may have missed some of it: it is then
     * told everything again. A channel that never knows does nothing, which is the default.
     */
    default void onPeer(Runnable listener) {}

    /** This replica's id among its peers, not 0 and nobody else's; empty, the default, lets the core draw one. */
    default OptionalLong processId() {
        return OptionalLong.empty();
    }

    /** The form of a message. All replicas that hear each other use the same. Default JSON. */
    default RecordCodec codec() {
        return RecordCodec.json();
    }

    /** Whom this channel talks to, where that is a list of endpoints; empty by default. */
    default Optional<ReplicaPeers> peers() {
        return Optional.empty();
    }

    /** Delivers and accepts nothing any more. Idempotent. */
    @Override
    void close();

    /** Takes messages. Does not block; must not change the array, which others may get too. */
    @FunctionalInterface
    interface Handler {
        void received(byte[] payload);
    }
}

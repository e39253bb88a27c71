package dev.tandemkv.adapters.zmq.mesh;

import dev.tandemkv.selection.host.ReplicaChannel;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What waits to be sent: one queue, so that the order of all topics is kept, and a bound for each topic, so that none takes the room of
 * another. Anybody puts in, one thread takes out.
 */
final class Outbox {

    /** A message and the topic it goes to. */
    record Message(String topic, byte[] payload) {}

    /** What one topic may have waiting, and has. */
    private record Room(int capacity, AtomicInteger waiting) {
        Room(int capacity) {
            this(capacity, new AtomicInteger());
        }
    }

    private final Map<String, Room> rooms;
    private final Queue<Message> waiting = new ConcurrentLinkedQueue<>();

    Outbox(MeshSettings settings) {
        rooms = Map.of(
                ReplicaChannel.BOOKINGS, new Room(settings.outboundBookings()),
                ReplicaChannel.SESSIONS, new Room(settings.outboundSessions()));
    }

    boolean knows(String topic) {
        return rooms.containsKey(topic);
    }

    /**
     * Puts the newest message in, or drops it.
     *
     * @throws IllegalArgumentException if the topic is unknown
     */
    boolean offer(String topic, byte[] payload) {
        Room room = rooms.get(topic);
        if (room == null) {
            throw new IllegalArgumentException("topic: " + topic + " (expected: one of " + rooms.keySet() + ')');
        }
        if (room.waiting().incrementAndGet() > room.capacity()) {
            room.waiting().decrementAndGet();
            return false;
        }
        waiting.add(new Message(topic, payload));
        return true;
    }

    @Nullable
    Message poll() {
        Message next = waiting.poll();
        Room room = next == null ? null : rooms.get(next.topic());
        if (room != null) {
            room.waiting().decrementAndGet();
        }
        return next;
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }
}

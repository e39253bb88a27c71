package dev.tandemkv.selection.host;

import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link ReplicaChannel} has accepted and not sent yet, for those who implement one: one queue, so that the order of all topics is
 * kept, and a bound for each topic, so that none takes the room of another. Anybody puts in, one thread takes out.
 */
public final class ReplicaOutbox {

    /**
     * A message and the topic it goes to.
     *
     * @param payload not to be changed
     */
    public record Message(String topic, byte[] payload) {
        public Message {
            Objects.requireNonNull(topic, "topic");
            Objects.requireNonNull(payload, "payload");
        }
    }

    /** What one topic may have waiting, and has. */
    private record Room(int capacity, AtomicInteger waiting) {
        Room(int capacity) {
            this(capacity, new AtomicInteger());
        }
    }

    private final Map<String, Room> rooms;
    private final Queue<Message> waiting = new ConcurrentLinkedQueue<>();

    /**
     * @param bookings messages of {@link ReplicaChannel#BOOKINGS} that may wait
     * @param sessions messages of {@link ReplicaChannel#SESSIONS} that may wait
     */
    public ReplicaOutbox(int bookings, int sessions) {
        rooms = Map.of(
                ReplicaChannel.BOOKINGS, new Room(bookings),
                ReplicaChannel.SESSIONS, new Room(sessions));
    }

    /** Whether this is a topic of {@link ReplicaChannel}. */
    public boolean knows(String topic) {
        return rooms.containsKey(topic);
    }

    /**
     * Puts the newest message in, or drops it.
     *
     * @return false if it was dropped
     * @throws IllegalArgumentException if the topic is unknown
     */
    public boolean offer(String topic, byte[] payload) {
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

    /** Takes the oldest message out; {@code null} if none waits. */
    public @Nullable Message poll() {
        Message next = waiting.poll();
        Room room = next == null ? null : rooms.get(next.topic());
        if (room != null) {
            room.waiting().decrementAndGet();
        }
        return next;
    }

    public boolean isEmpty() {
        return waiting.isEmpty();
    }
}

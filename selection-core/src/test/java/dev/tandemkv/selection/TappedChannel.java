package dev.tandemkv.selection;

import dev.tandemkv.selection.host.ReplicaChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/** A channel of a bus whose outgoing messages a test sees, drops or sends again. */
final class TappedChannel implements ReplicaChannel {

    private final ReplicaChannel channel;
    private final OptionalLong processId;

    private final List<Runnable> listeners = new ArrayList<>();

    /** What was published, dropped or not, as JSON. */
    final List<String> published = new ArrayList<>();

    Predicate<String> drops = message -> false;
    BiConsumer<String, String> before = (topic, message) -> {};

    TappedChannel(ReplicaChannel channel) {
        this(channel, channel.processId());
    }

    TappedChannel(ReplicaChannel channel, OptionalLong processId) {
        this.channel = channel;
        this.processId = processId;
    }

    @Override
    public OptionalLong processId() {
        return processId;
    }

    @Override
    public Outcome publish(String topic, byte[] payload) {
        String message = new String(payload, StandardCharsets.UTF_8);
        before.accept(topic, message);
        published.add(message);
        return drops.test(message) ? Outcome.DROPPED : channel.publish(topic, payload);
    }

    /** Sends on, once more, what was published. */
    void repeat(String message) {
        channel.publish(BOOKINGS, message.getBytes(StandardCharsets.UTF_8));
    }

    /** The last message that says a word, for example {@code "Free"}. */
    String last(String word) {
        return published.stream()
                .filter(message -> message.contains(word))
                .reduce((earlier, later) -> later)
                .orElseThrow(() -> new AssertionError("nothing says " + word));
    }

    @Override
    public void subscribe(String topic, Handler handler) {
        channel.subscribe(topic, handler);
    }

    @Override
    public void onPeer(Runnable listener) {
        listeners.add(listener);
        channel.onPeer(listener);
    }

    /** A peer begins to hear what is published here. */
    void peerListens() {
        listeners.forEach(Runnable::run);
    }

    @Override
    public void close() {
        channel.close();
    }
}

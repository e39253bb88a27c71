package dev.tandemkv.selection.host;

import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Connects replicas within one process: every member gets what any member publishes, its own messages included. Thread-safe. Each delivery
 * is one task of the executor given, which decides when, in which order and whether it happens.
 */
public final class InProcessBus {

    private final Executor deliveries;
    private final List<Member> members = new CopyOnWriteArrayList<>();
    private final AtomicLong joined = new AtomicLong();

    /** @param deliveries runs each delivery; {@code Runnable::run} delivers within the publication */
    public InProcessBus(Executor deliveries) {
        this.deliveries = Objects.requireNonNull(deliveries, "deliveries");
    }

    /** A channel for one more replica. */
    public ReplicaChannel join() {
        Member member = new Member(joined.incrementAndGet());
        members.add(member);
        return member;
    }

    private record Subscription(String topic, ReplicaChannel.Handler handler) {}

    private final class Member implements ReplicaChannel {
        private final long id;
        private final List<Subscription> subscriptions = new CopyOnWriteArrayList<>();
        private final List<Runnable> onPeer = new CopyOnWriteArrayList<>();

        Member(long id) {
            this.id = id;
        }

        @Override
        public OptionalLong processId() {
            return OptionalLong.of(id);
        }

        @Override
        public Outcome publish(String topic, byte[] payload) {
            if (!members.contains(this)) {
                return Outcome.DROPPED;
            }
            for (Member member : members) {
                deliveries.execute(() -> member.deliver(topic, payload));
            }
            return Outcome.ACCEPTED;
        }

        private void deliver(String topic, byte[] payload) {
            for (Subscription subscription : subscriptions) {
                if (subscription.topic().equals(topic)) {
                    subscription.handler().received(payload);
                }
            }
        }

        @Override
        public void subscribe(String topic, Handler handler) {
            subscriptions.add(new Subscription(topic, handler));
            for (Member member : members) {
                if (member != this) {
                    member.onPeer.forEach(deliveries::execute);
                }
            }
        }

        @Override
        public void onPeer(Runnable listener) {
            onPeer.add(listener);
        }

        @Override
        public void close() {
            members.remove(this);
            subscriptions.clear();
            onPeer.clear();
        }
    }
}

package dev.tandemkv.testkit.replica;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tandemkv.selection.host.ReplicaChannel;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The kit passes a channel that works and finds out those that do not. */
class ReplicaChannelContractTest {

    /** For channels on which something never comes. */
    private static final Duration SHORT = Duration.ofMillis(100);
    /** For those on which everything comes, and something else is wrong: a busy machine must not make it look lost. */
    private static final Duration LONG = Duration.ofSeconds(30);

    /** A channel with one fault. */
    private abstract static class Faulty implements ReplicaChannel {
        final ReplicaChannel channel;

        Faulty(ReplicaChannel channel) {
            this.channel = channel;
        }

        @Override
        public Outcome publish(String topic, byte[] payload) {
            return channel.publish(topic, payload);
        }

        @Override
        public void subscribe(String topic, Handler handler) {
            channel.subscribe(topic, handler);
        }

        @Override
        public void onPeer(Runnable listener) {
            channel.onPeer(listener);
        }

        @Override
        public void close() {
            channel.close();
        }
    }

    @Test
    void busOfOneProcess_passes() {
        ReplicaChannelContract.verify(() -> new BusNetwork(UnaryOperator.identity()));
    }

    @Test
    void channelThatLosesBookings_isFoundOut() {
        assertBroken(
                SHORT,
                channel -> new Faulty(channel) {
                    @Override
                    public Outcome publish(String topic, byte[] payload) {
                        return topic.equals(BOOKINGS) ? Outcome.ACCEPTED : super.publish(topic, payload);
                    }
                },
                "LOAD_IS_SEEN_AND_ENDS_WITH_ITS_BOOKING: a gateway counts 0");
    }

    @Test
    void channelThatLosesSessions_isFoundOut() {
        assertBroken(
                SHORT,
                channel -> new Faulty(channel) {
                    @Override
                    public void subscribe(String topic, Handler handler) {
                        if (topic.equals(BOOKINGS)) {
                            super.subscribe(topic, handler);
                        }
                    }
                },
                "SESSIONS_STICK_EVERYWHERE");
    }

    @Test
    void channelThatGarbles_isFoundOut() {
        assertBroken(
                LONG,
                channel -> new Faulty(channel) {
                    @Override
                    public Outcome publish(String topic, byte[] payload) {
                        super.publish(topic, new byte[] {1});
                        return super.publish(topic, payload);
                    }
                },
                "a message could not be read");
    }

    @Test
    void channelThatAcceptsAfterItsEnd_isFoundOut() {
        assertBroken(
                LONG,
                channel -> new Faulty(channel) {
                    @Override
                    public Outcome publish(String topic, byte[] payload) {
                        super.publish(topic, payload);
                        return Outcome.ACCEPTED;
                    }
                },
                "CLOSED_CHANNEL_TAKES_NOTHING: a closed channel accepts");
    }

    private static void assertBroken(Duration patience, UnaryOperator<ReplicaChannel> fault, String verdict) {
        assertThatThrownBy(() -> ReplicaChannelContract.verify(() -> new BusNetwork(fault), patience))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(verdict);
    }
}

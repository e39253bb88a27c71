package dev.tandemkv.adapters.zmq;

import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.testkit.engine.wire.EngineHash;
import dev.tandemkv.testkit.engine.wire.EngineTokens;
import dev.tandemkv.testkit.engine.wire.FakeRank;
import dev.tandemkv.testkit.engine.wire.FaultyLine.Fault;
import dev.tandemkv.testkit.engine.wire.PublisherConfig;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQException;

/**
 * A fake rank with sockets on loopback. Blocks have one token, equal to their hash; what it holds is known to the test. Its clock counts
 * batches and never goes back, as those of the processes that follow one another on a machine.
 */
final class FakeEngine implements AutoCloseable {

    private static final String ANY = "tcp://127.0.0.1:*";

    private final EngineSockets sockets = EngineSockets.start();
    private final FakeRank rank;
    private EngineSockets.Publisher publisher;
    private double clock;
    private boolean muteReplay;

    private FakeEngine(PublisherConfig config, String bindTo, @Nullable String connectTo) {
        rank = new FakeRank(config, new SeededRandom(1), this::send);
        publisher = connectTo == null
                ? sockets.bind(bindTo, bindTo, this::answer)
                : sockets.connect(connectTo, bindTo, this::answer);
    }

    /** Publishes on a port of its own. */
    static FakeEngine bound() {
        return bound(config());
    }

    static FakeEngine bound(PublisherConfig config) {
        return new FakeEngine(config, ANY, null);
    }

    /** Publishes, and answers replays, on free ports of an address. */
    static FakeEngine boundTo(String anyPort) {
        return new FakeEngine(config(), anyPort, null);
    }

    /** Publishes to a subscriber that is bound. */
    static FakeEngine connectedTo(String endpoint, String topic) {
        return new FakeEngine(config().withTopic(topic), ANY, endpoint);
    }

    static PublisherConfig config() {
        return PublisherConfig.of(WireDialect.SGLANG_0_5_22, 0);
    }

    String endpoint() {
        return publisher.endpoint();
    }

    String replayEndpoint() {
        return Objects.requireNonNull(publisher.replayEndpoint());
    }

    /** Whether what is published now reaches somebody. */
    boolean isHeard() {
        return publisher.isHeard();
    }

    Set<Long> held() {
        return sockets.call(rank::held);
    }

    /** Stores a chain of blocks under a parent, one batch. */
    void store(@Nullable Long parent, long... blocks) {
        sockets.call(() -> {
            rank.storeOnDevice(
                    parent == null ? null : EngineHash.signed(parent),
                    Arrays.stream(blocks).mapToObj(EngineHash::signed).toList(),
                    EngineTokens.of(
                            Arrays.stream(blocks).mapToInt(id -> (int) id).toArray()),
                    1);
            return rank.publish(clock++);
        });
        hasLeft();
    }

    /** What was published is sent by a later turn: who subscribes from now on does not get it. */
    private void hasLeft() {
        sockets.call(() -> true);
    }

    /** As {@link #store}, with something happening to the message on its way. */
    void storeWith(Fault fault, @Nullable Long parent, long... blocks) {
        sockets.call(() -> {
            rank.inject(fault, 1);
            return true;
        });
        store(parent, blocks);
    }

    void remove(long block) {
        sockets.call(() -> {
            rank.removeFromDevice(List.of(EngineHash.signed(block)));
            return rank.publish(clock++);
        });
        hasLeft();
    }

    /** Sends frames that the engine knows nothing of. */
    void publishRaw(List<byte[]> frames) {
        publisher.publish(frames);
    }

    void muteReplay(boolean mute) {
        sockets.call(() -> muteReplay = mute);
    }

    /** A new process behind the same connections, as a proxy makes it look: empty cache, numbers from the first. */
    void restart() {
        sockets.call(() -> {
            rank.restart();
            return true;
        });
    }

    /** Loses every connection, and accepts new ones at the same place once {@link #comeBack} is called. */
    void goAway() {
        publisher.close();
    }

    void comeBack() {
        EngineSockets.Publisher before = publisher;
        Eventually.await(() -> {
            try {
                publisher = sockets.bind(before.endpoint(), before.replayEndpoint(), this::answer);
                return true;
            } catch (ZMQException e) {
                // The port is freed a little later.
                return false;
            }
        });
    }

    /** The process ends, and another one connects to the subscriber from the same place. */
    void replaceProcess(String connectTo) {
        EngineSockets.Publisher before = publisher;
        before.close();
        restart();
        Eventually.await(() -> {
            try {
                publisher = sockets.connect(connectTo, before.replayEndpoint(), this::answer);
                return true;
            } catch (ZMQException e) {
                return false;
            }
        });
    }

    private void send(List<byte[]> frames) {
        publisher.publish(frames);
    }

    private void answer(List<byte[]> request, Consumer<List<byte[]>> reply) {
        if (!muteReplay) {
            rank.answer(request, reply);
        }
    }

    @Override
    public void close() {
        sockets.close();
    }
}

package dev.tandemkv.examples.enginewatch;

import dev.tandemkv.adapters.zmq.EngineSockets;
import dev.tandemkv.testkit.engine.wire.EngineEvent;
import dev.tandemkv.testkit.engine.wire.EngineHash;
import dev.tandemkv.testkit.engine.wire.EnginePublisher;
import dev.tandemkv.testkit.engine.wire.EngineTokens;
import dev.tandemkv.testkit.engine.wire.PublisherConfig;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.util.List;

/** A publisher that connects, and caches one more block each time it is told to. */
final class Chatter {

    private final EnginePublisher publisher;
    private final EngineSockets.Publisher socket;
    private long hash;

    Chatter(EngineSockets sockets, String endpoint, String topic) {
        publisher =
                new EnginePublisher(PublisherConfig.of(WireDialect.VLLM_0_33, 0).withTopic(topic));
        socket = sockets.connect(endpoint, null, (request, reply) -> {});
    }

    void say() {
        hash++;
        socket.publish(publisher.publish(
                0,
                List.of(EngineEvent.Stored.of(
                        null, List.of(EngineHash.unsigned(hash)), EngineTokens.of((int) hash, 0, 0, 0), 4))));
    }
}

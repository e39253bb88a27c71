package dev.tandemkv.adapters.zmq;

import static dev.tandemkv.adapters.zmq.Eventually.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Engines speak and end while the loop's thread is elsewhere: what they said, and that they ended, is found at once. */
class SharedSubscriptionTest {

    private final SocketLoop loop =
            SocketLoop.builder().handshake(Duration.ofSeconds(30)).start();
    private final ConcurrentLinkedQueue<String> told = new ConcurrentLinkedQueue<>();
    private final SharedSubscription shared = loop.call(() -> {
        SharedSubscription bound = SharedSubscription.bind(loop, "tcp://127.0.0.1:*", ZmqSettings.defaults());
        for (String topic : List.of("one", "ten")) {
            bound.add(
                    topic,
                    (frames, connection) -> told.add(topic + ": " + new String(frames.get(1), StandardCharsets.UTF_8)),
                    () -> told.add(topic + " ended"));
        }
        return bound;
    });

    @AfterEach
    void close() {
        loop.close();
    }

    @Test
    void connectionThatEnds_beforeItsFirstMessageIsTaken_isToldAfterIt() {
        loop.call(() -> {
            shared.listen();
            PlainPublisher.speakAndEnd(shared.boundTo(), "one", "hello");
            return true;
        });

        await(() -> told.size() == 2);
        assertThat(told).containsExactly("one: hello", "one ended");
    }

    @Test
    void connectionsThatEnd_beforeAnyIsListenedTo_areToldAfterTheirMessages() {
        loop.call(() -> {
            PlainPublisher.speakAndEnd(shared.boundTo(), "one", "hello");
            PlainPublisher.speakAndEnd(shared.boundTo(), "ten", "hello");
            return true;
        });
        // The end was queued before this is: it has been heard.
        loop.call(() -> true);
        loop.call(() -> {
            shared.listen();
            return true;
        });

        await(() -> told.size() == 4);
        assertThat(told).containsSubsequence("one: hello", "one ended").containsSubsequence("ten: hello", "ten ended");
    }
}

package dev.tandemkv.testkit.engine.wire;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One rank's publisher without its sockets: it numbers batches, gives the frames that a subscriber receives, keeps the newest for replays,
 * and gives the frames that a replay client receives. Not thread-safe.
 *
 * <p>Like the engines it answers whatever it can read: a request older than its ring from the oldest batch on, without a sign; a request
 * that has not two frames not at all.
 */
public final class EnginePublisher {

    private static final byte[] EMPTY = {};
    private static final BigInteger TWO_64 = BigInteger.ONE.shiftLeft(64);

    private final PublisherConfig config;
    private final BatchEncoder encoder;
    private final byte[] topic;
    private final ArrayDeque<Kept> ring = new ArrayDeque<>();
    private long next;

    private record Kept(long sequence, byte[] payload) {}

    public EnginePublisher(PublisherConfig config) {
        this.config = Objects.requireNonNull(config, "config");
        this.encoder = new BatchEncoder(config.dialect());
        this.topic = config.topic().getBytes(StandardCharsets.UTF_8);
        this.next = config.firstSequence();
    }

    public PublisherConfig config() {
        return config;
    }

    /** Unsigned number of the next batch. */
    public long nextSequence() {
        return next;
    }

    /**
     * Publishes one batch under the publisher's own rank.
     *
     * @param timestamp seconds since the epoch
     * @return topic, sequence and payload
     * @throws IllegalArgumentException if an event says what the dialect has no field for; nothing was changed
     */
    public List<byte[]> publish(double timestamp, List<EngineEvent> events) {
        return publish(timestamp, events, config.rank());
    }

    /**
     * As {@link #publish(double, List)}, for a batch that names another rank, or none.
     *
     * @param rank unsigned, or {@code null} for none
     */
    public List<byte[]> publish(double timestamp, List<EngineEvent> events, @Nullable Integer rank) {
        byte[] payload = encoder.encode(timestamp, events, rank);
        long sequence = next++;
        if (ring.size() == config.ringBatches()) {
            ring.remove();
        }
        ring.add(new Kept(sequence, payload));
        return List.of(topic, number(sequence), payload);
    }

    /** Uses up a number for a batch that is never sent and cannot be replayed, as an engine does whose encoder fails. */
    public void skip() {
        next++;
    }

    /**
     * Answers a replay request.
     *
     * @param request as it arrives, the client's identity left out: an empty frame and the first number wanted, big-endian, of any length
     * @return the replies as a DEALER receives them, the end marker last; none if the request cannot be read
     */
    public List<List<byte[]>> answer(List<byte[]> request) {
        if (request.size() != 2) {
            return List.of();
        }
        BigInteger start = new BigInteger(1, request.get(1));
        List<List<byte[]>> replies = new ArrayList<>();
        if (start.compareTo(TWO_64) < 0) {
            for (Kept batch : ring) {
                if (Long.compareUnsigned(batch.sequence, start.longValue()) >= 0) {
                    replies.add(reply(topic, number(batch.sequence), batch.payload));
                }
            }
        }
        replies.add(reply(EMPTY, number(-1), EMPTY));
        return replies;
    }

    private List<byte[]> reply(byte[] ofTopic, byte[] sequence, byte[] payload) {
        return config.dialect().replayFrames() == 4
                ? List.of(EMPTY, ofTopic, sequence, payload)
                : List.of(EMPTY, sequence, payload);
    }

    private static byte[] number(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    /** A new process: nothing to replay, numbers from the first. */
    public void restart() {
        ring.clear();
        next = config.firstSequence();
    }
}

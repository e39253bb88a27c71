package dev.tandemkv.adapters.enginewire;

import java.util.List;

/**
 * One message of an engine's publisher, as a subscriber receives it: topic, sequence, payload. Thread-safe; immutable by contract, the
 * payload is not copied.
 *
 * @param topic the publisher's topic; a subscription matches by prefix, so compare it whole with {@link #isFor}
 * @param sequence unsigned 64-bit number of the batch
 * @param payload MessagePack bytes of one batch, for {@link WireDecoder}
 */
public record LiveMessage(String topic, long sequence, byte[] payload) {

    private static final int FRAMES = 3;

    /**
     * Reads the frames of one message.
     *
     * @param frames as the socket delivers them
     * @throws WireFormatException if they are not three, the topic is not UTF-8, or the sequence not eight bytes
     */
    public static LiveMessage of(List<byte[]> frames) {
        if (frames.size() != FRAMES) {
            throw Frames.unexpectedCount(frames.size(), "3");
        }
        return new LiveMessage(Frames.topic(frames.get(0)), Frames.sequence(frames.get(1)), frames.get(2));
    }

    /** Whether the topic is exactly this one. {@code kv@pod-10} arrives on the subscription {@code kv@pod-1} as well, and is not for it. */
    public boolean isFor(String expectedTopic) {
        return topic.equals(expectedTopic);
    }

    /** Without the payload. */
    @Override
    public String toString() {
        return "LiveMessage[" + topic + ", " + Long.toUnsignedString(sequence) + ", " + payload.length + " bytes]";
    }
}

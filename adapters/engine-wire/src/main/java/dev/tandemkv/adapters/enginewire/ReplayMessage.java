package dev.tandemkv.adapters.enginewire;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One reply of an engine's replay socket: a batch, or the marker behind the last one. Replies of four frames name the topic, older ones of
 * three do not; the form says nothing about how the events are encoded. Thread-safe; immutable by contract, payloads are not copied.
 */
public sealed interface ReplayMessage permits ReplayMessage.Data, ReplayMessage.End {

    /**
     * Reads the frames of one reply, as a DEALER socket delivers them (the empty delimiter included): the payload is the last frame, the
     * sequence the one before.
     *
     * @throws WireFormatException if they are neither three nor four, or the sequence is not eight bytes
     */
    static ReplayMessage of(List<byte[]> frames) {
        int count = frames.size();
        if (count != 3 && count != 4) {
            throw Frames.unexpectedCount(count, "3 or 4");
        }
        long sequence = Frames.sequence(frames.get(count - 2));
        byte[] payload = frames.get(count - 1);
        if (payload.length == 0) {
            return new End();
        }
        return new Data(count == 4 ? Frames.topic(frames.get(1)) : null, sequence, payload);
    }

    /**
     * The frames that ask for every batch from a number on, as a DEALER socket sends them.
     *
     * @param start unsigned 64-bit number of the first batch asked for
     */
    static List<byte[]> request(long start) {
        return List.of(new byte[0], Frames.sequence(start));
    }

    /**
     * A batch.
     *
     * @param topic the publisher's topic, or {@code null} in a reply of three frames
     * @param sequence unsigned 64-bit number of the batch
     * @param payload MessagePack bytes of one batch, for {@link WireDecoder}
     */
    record Data(@Nullable String topic, long sequence, byte[] payload) implements ReplayMessage {
        /** Without the payload. */
        @Override
        public String toString() {
            return "Data[" + topic + ", " + Long.toUnsignedString(sequence) + ", " + payload.length + " bytes]";
        }
    }

    /** Nothing follows. */
    record End() implements ReplayMessage {}
}

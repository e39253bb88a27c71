package dev.tandemkv.adapters.jgroups;

import dev.tandemkv.selection.host.ReplicaChannel;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One message of a group: a byte that says what it is, and the payload. The byte stands for a topic and with it for the version of the schema;
 * a later version gets another one, which those who do not know it count and leave.
 *
 * @param payload nothing for {@link Kind#LISTENING}
 */
record Frame(Kind kind, byte[] payload) {

    enum Kind {
        /** The sender begins to listen to a topic. */
        LISTENING(1, ""),
        BOOKINGS(2, ReplicaChannel.BOOKINGS),
        SESSIONS(3, ReplicaChannel.SESSIONS);

        private final byte code;
        private final String topic;

        Kind(int code, String topic) {
            this.code = (byte) code;
            this.topic = topic;
        }

        /** Empty for what has none. */
        String topic() {
            return topic;
        }
    }

    static byte[] listening() {
        return bytes(Kind.LISTENING, new byte[0]);
    }

    /** @param topic one of {@link ReplicaChannel} */
    static byte[] of(String topic, byte[] payload) {
        return bytes(topic.equals(ReplicaChannel.BOOKINGS) ? Kind.BOOKINGS : Kind.SESSIONS, payload);
    }

    private static byte[] bytes(Kind kind, byte[] payload) {
        byte[] bytes = new byte[1 + payload.length];
        bytes[0] = kind.code;
        System.arraycopy(payload, 0, bytes, 1, payload.length);
        return bytes;
    }

    /** What {@link #listening} and {@link #of} wrote; {@code null} if this is of another kind. */
    static @Nullable Frame read(byte[] bytes) {
        for (Kind kind : Kind.values()) {
            if (bytes[0] == kind.code) {
                return new Frame(kind, Arrays.copyOfRange(bytes, 1, bytes.length));
            }
        }
        return null;
    }
}

package dev.tandemkv.adapters.enginewire;

import dev.tandemkv.adapters.enginewire.WireFormatException.Problem;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** What live messages and replies to a replay request have in common. */
final class Frames {

    private static final VarHandle BIG_ENDIAN_LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private Frames() {}

    static WireFormatException unexpectedCount(int frames, String expected) {
        return new WireFormatException(Problem.FRAMES, "frames", 0, String.valueOf(frames), expected);
    }

    static long sequence(byte[] frame) {
        if (frame.length != Long.BYTES) {
            throw new WireFormatException(Problem.FRAMES, "sequence", 0, frame.length + " bytes", "8 bytes");
        }
        return (long) BIG_ENDIAN_LONG.get(frame, 0);
    }

    static byte[] sequence(long value) {
        byte[] frame = new byte[Long.BYTES];
        BIG_ENDIAN_LONG.set(frame, 0, value);
        return frame;
    }

    static String topic(byte[] frame) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(frame))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new WireFormatException(Problem.MALFORMED, "topic", 0, frame.length + " bytes", "UTF-8", e);
        }
    }
}

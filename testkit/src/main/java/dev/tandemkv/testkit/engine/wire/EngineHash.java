package dev.tandemkv.testkit.engine.wire;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An engine's hash of a block, in one of the forms in which engines send it. Immutable. */
public sealed interface EngineHash permits EngineHash.Unsigned, EngineHash.Signed, EngineHash.Digest {

    /** The unsigned 64-bit value under which consumers know the block. */
    long value();

    /** An unsigned 64-bit integer: vLLM from 0.11. */
    static EngineHash unsigned(long bits) {
        return new Unsigned(bits);
    }

    /** A signed 64-bit integer: vLLM 0.9, SGLang, TensorRT-LLM. */
    static EngineHash signed(long value) {
        return new Signed(value);
    }

    /** Bytes, of which consumers take the last eight: vLLM with integer hashes switched off. */
    static EngineHash digest(byte[] bytes) {
        return new Digest(bytes);
    }

    /** See {@link #unsigned}. */
    record Unsigned(long value) implements EngineHash {}

    /** See {@link #signed}. */
    record Signed(long value) implements EngineHash {}

    /**
     * See {@link #digest}. Immutable by contract: the array is not copied.
     *
     * @param bytes at least one
     */
    record Digest(byte[] bytes) implements EngineHash {
        public Digest {
            Objects.requireNonNull(bytes, "bytes");
            if (bytes.length == 0) {
                throw new IllegalArgumentException("bytes: 0 (expected: >= 1)");
            }
        }

        @Override
        public long value() {
            long value = 0;
            for (int i = Math.max(0, bytes.length - Long.BYTES); i < bytes.length; i++) {
                value = (value << 8) | (bytes[i] & 0xff);
            }
            return value;
        }

        @Override
        public boolean equals(@Nullable Object o) {
            return o instanceof Digest other && Arrays.equals(bytes, other.bytes);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }

        @Override
        public String toString() {
            return "Digest[" + HexFormat.of().formatHex(bytes) + ']';
        }
    }
}

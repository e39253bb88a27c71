package dev.tandemkv.adapters.enginewire;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One item that an engine hashes into a block beside its tokens. The bytes alone do not always say what it means: a bare text is an
 * adapter's name, a salt or a multimodal identifier, depending on its place and on the release.
 */
public sealed interface ExtraKey permits ExtraKey.Text, ExtraKey.Identifier, ExtraKey.Bytes, ExtraKey.Scalar {

    /** A bare text. */
    record Text(String text) implements ExtraKey {
        public Text {
            Objects.requireNonNull(text, "text");
        }

        /** Without the text: it can be a tenant's salt. */
        @Override
        public String toString() {
            return "Text[" + text.length() + " characters]";
        }
    }

    /**
     * A multimodal object.
     *
     * @param identifier the engine's name of its content
     * @param offset where it starts, relative to the block; negative if it began in an earlier one
     */
    record Identifier(String identifier, long offset) implements ExtraKey {
        public Identifier {
            Objects.requireNonNull(identifier, "identifier");
        }
    }

    /**
     * A digest, or a value of a shape that no known release sends, as its MessagePack bytes. Immutable by contract: the array is not
     * copied.
     */
    record Bytes(byte[] bytes) implements ExtraKey {
        public Bytes {
            Objects.requireNonNull(bytes, "bytes");
        }

        @Override
        public boolean equals(@Nullable Object o) {
            return o instanceof Bytes other && Arrays.equals(bytes, other.bytes);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }

        @Override
        public String toString() {
            return "Bytes[" + bytes.length + ']';
        }
    }

    /**
     * A number or a truth value.
     *
     * @param text an integer in decimal, another number as {@link Double#toString(double)} writes it, {@code true} or {@code false}
     */
    record Scalar(String text) implements ExtraKey {
        public Scalar {
            Objects.requireNonNull(text, "text");
        }
    }
}

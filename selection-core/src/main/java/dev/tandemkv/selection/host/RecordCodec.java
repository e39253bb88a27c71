package dev.tandemkv.selection.host;

import dev.tandemkv.selection.internal.replica.JsonCodec;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Turns a record's named fields into bytes and back. Values are {@code null}, text, {@link Boolean}, whole numbers from 0 to 2^64 - 1
 * ({@link Integer}, {@link Long}, {@link java.math.BigInteger}), lists and maps of such values, and {@code long[]} for a list of unsigned
 * 64-bit numbers; a decoder may answer such a list either way. Thread-safe.
 */
public interface RecordCodec {

    byte[] encode(Map<String, @Nullable Object> fields);

    /** @throws IOException if these bytes are no record */
    Map<String, @Nullable Object> decode(byte[] payload) throws IOException;

    /** Records as JSON objects. */
    static RecordCodec json() {
        return new JsonCodec();
    }
}

package dev.tandemkv.selection.internal.replica;

import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Turns a record's named fields into bytes and back. Thread-safe. */
public interface RecordCodec {

    byte[] encode(Map<String, @Nullable Object> fields);

    /** @throws IOException if these bytes are no record */
    Map<String, @Nullable Object> decode(byte[] payload) throws IOException;
}

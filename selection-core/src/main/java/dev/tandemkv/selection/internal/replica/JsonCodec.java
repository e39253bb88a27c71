package dev.tandemkv.selection.internal.replica;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Records as JSON objects. Thread-safe. */
public final class JsonCodec implements RecordCodec {

    private static final TypeReference<Map<String, @Nullable Object>> FIELDS = new TypeReference<>() {};

    private final ObjectMapper mapper = new ObjectMapper();

    @Override
    public byte[] encode(Map<String, @Nullable Object> fields) {
        try {
            return mapper.writeValueAsBytes(fields);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("fields are numbers, text, lists and maps", e);
        }
    }

    @Override
    public Map<String, @Nullable Object> decode(byte[] payload) throws IOException {
        Map<String, @Nullable Object> fields = mapper.readValue(payload, FIELDS);
        if (fields == null) {
            throw new IOException("no record");
        }
        return fields;
    }
}

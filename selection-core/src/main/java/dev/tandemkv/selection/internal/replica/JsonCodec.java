package dev.tandemkv.selection.internal.replica;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
import dev.tandemkv.selection.host.RecordCodec;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Records as JSON objects. Thread-safe. */
public final class JsonCodec implements RecordCodec {

    private static final TypeReference<Map<String, @Nullable Object>> FIELDS = new TypeReference<>() {};

    private final ObjectMapper mapper =
            new ObjectMapper().registerModule(new SimpleModule().addSerializer(long[].class, new Unsigned()));

    private static final class Unsigned extends JsonSerializer<long[]> {
        @Override
        public void serialize(long[] numbers, JsonGenerator to, SerializerProvider provider) throws IOException {
            to.writeStartArray(numbers, numbers.length);
            for (long number : numbers) {
                if (number >= 0) {
                    to.writeNumber(number);
                } else {
                    to.writeNumber(Long.toUnsignedString(number));
                }
            }
            to.writeEndArray();
        }
    }

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

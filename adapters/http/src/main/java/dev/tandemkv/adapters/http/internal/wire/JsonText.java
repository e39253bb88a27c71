package dev.tandemkv.adapters.http.internal.wire;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import java.io.IOException;
import java.util.List;

/** Makes JSON documents of the answers and of a client's requests. Stateless. */
public final class JsonText {

    private static final JsonFactory FACTORY = new JsonFactory();

    /** Writes one document. */
    @FunctionalInterface
    public interface Writer {
        void write(JsonGenerator json) throws IOException;
    }

    private JsonText() {}

    public static byte[] of(Writer writer) {
        try (ByteArrayBuilder bytes = new ByteArrayBuilder(512)) {
            try (JsonGenerator json = FACTORY.createGenerator(bytes)) {
                writer.write(json);
            }
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new IllegalStateException("writing to memory", e);
        }
    }

    /** A list of texts. */
    public static byte[] ofTexts(List<String> texts) {
        return of(json -> {
            json.writeStartArray();
            for (String text : texts) {
                json.writeString(text);
            }
            json.writeEndArray();
        });
    }

    /** Writes a number without sign. */
    public static void unsigned(JsonGenerator json, String field, long value) throws IOException {
        json.writeFieldName(field);
        unsigned(json, value);
    }

    public static void unsigned(JsonGenerator json, long value) throws IOException {
        if (value >= 0) {
            json.writeNumber(value);
        } else {
            json.writeNumber(Long.toUnsignedString(value));
        }
    }

    public static void unsigned(JsonGenerator json, String field, int value) throws IOException {
        json.writeNumberField(field, Integer.toUnsignedLong(value));
    }
}

package dev.tandemkv.indexer.dump;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * A forward walk over one JSON document in which a value that was not expected is a {@link MalformedDumpException}; what is no JSON stays a
 * Jackson exception, for {@link DumpReader} to translate. Not thread-safe.
 *
 * <p>Values are read by the type that is expected, so a hostile document can neither nest deeply nor make long texts.
 */
final class JsonCursor implements AutoCloseable {

    private final JsonParser json;

    JsonCursor(InputStream in) throws IOException {
        StreamReadConstraints constraints = StreamReadConstraints.builder()
                .maxNestingDepth(32)
                .maxStringLength(4096)
                .maxNameLength(4096)
                .maxNumberLength(64)
                .build();
        json = JsonFactory.builder()
                .streamReadConstraints(constraints)
                .disable(StreamReadFeature.AUTO_CLOSE_SOURCE)
                .build()
                .createParser(in);
    }

    void beginObject(String where) throws IOException {
        expect(next(), JsonToken.START_OBJECT, where);
    }

    void beginArray(String where) throws IOException {
        expect(next(), JsonToken.START_ARRAY, where);
    }

    /** The next field of the present object, or {@code null} at its end. */
    @Nullable
    String field(String where) throws IOException {
        JsonToken token = next();
        if (token == JsonToken.END_OBJECT) {
            return null;
        }
        expect(token, JsonToken.FIELD_NAME, where);
        return json.currentName();
    }

    /** Whether the present array of objects has another one, which is then begun. */
    boolean nextObject(String where) throws IOException {
        JsonToken token = next();
        if (token == JsonToken.END_ARRAY) {
            return false;
        }
        expect(token, JsonToken.START_OBJECT, where);
        return true;
    }

    /** Reads an array of unsigned (or small negative) numbers to its end. */
    void longs(String where, LongList into) throws IOException {
        beginArray(where);
        for (JsonToken token = next(); token != JsonToken.END_ARRAY; token = next()) {
            into.add(unsigned(token, where));
        }
    }

    long unsigned(String where) throws IOException {
        return unsigned(next(), where);
    }

    /** An unsigned number, or {@code null}. */
    @Nullable
    Long unsignedOrNull(String where) throws IOException {
        JsonToken token = next();
        return token == JsonToken.VALUE_NULL ? null : (Long) unsigned(token, where);
    }

    private long unsigned(JsonToken token, String where) throws IOException {
        expect(token, JsonToken.VALUE_NUMBER_INT, where);
        String text = json.getText();
        try {
            return text.startsWith("-") ? Long.parseLong(text) : Long.parseUnsignedLong(text);
        } catch (NumberFormatException e) {
            throw new MalformedDumpException(where, text + " (expected: 64 bits)", e);
        }
    }

    /** An integer in a range. */
    int integer(String where, long min, long max) throws IOException {
        long value = unsigned(where);
        if (value < min || value > max) {
            throw new MalformedDumpException(
                    where, Long.toUnsignedString(value) + " (expected: " + min + " to " + max + ")", null);
        }
        return (int) value;
    }

    double number(String where) throws IOException {
        JsonToken token = next();
        if (token != JsonToken.VALUE_NUMBER_FLOAT && token != JsonToken.VALUE_NUMBER_INT) {
            throw new MalformedDumpException(where, token + " (expected: a number)", null);
        }
        return json.getDoubleValue();
    }

    String text(String where) throws IOException {
        expect(next(), JsonToken.VALUE_STRING, where);
        return json.getText();
    }

    /** A text, or {@code null}. */
    @Nullable
    String textOrNull(String where) throws IOException {
        JsonToken token = next();
        if (token == JsonToken.VALUE_NULL) {
            return null;
        }
        expect(token, JsonToken.VALUE_STRING, where);
        return json.getText();
    }

    /** One of an enum's names, in any case. */
    <E extends Enum<E>> E choice(String where, Class<E> type) throws IOException {
        String text = text(where);
        for (E value : type.getEnumConstants()) {
            if (value.name().equalsIgnoreCase(text)) {
                return value;
            }
        }
        throw new MalformedDumpException(where, "unknown value", null);
    }

    /** A text or an object is ahead: begins the object and answers {@code null}, or answers the text. */
    @Nullable
    String textOrObject(String where) throws IOException {
        JsonToken token = next();
        if (token == JsonToken.VALUE_STRING) {
            return json.getText();
        }
        expect(token, JsonToken.START_OBJECT, where);
        return null;
    }

    void endArray(String where) throws IOException {
        expect(next(), JsonToken.END_ARRAY, where);
    }

    void endObject(String where) throws IOException {
        expect(next(), JsonToken.END_OBJECT, where);
    }

    /** Skips the value of a field that is not known. */
    void skip() throws IOException {
        json.nextToken();
        json.skipChildren();
    }

    /** Nothing but white space may follow the document. */
    void end() throws IOException {
        if (json.nextToken() != null) {
            throw new MalformedDumpException("end", "something follows the document", null);
        }
    }

    private JsonToken next() throws IOException {
        JsonToken token = json.nextToken();
        if (token == null) {
            throw new MalformedDumpException("end", "cut short", null);
        }
        return token;
    }

    private static void expect(JsonToken token, JsonToken expected, String where) {
        if (token != expected) {
            throw new MalformedDumpException(where, token + " (expected: " + expected + ")", null);
        }
    }

    @Override
    public void close() throws IOException {
        json.close();
    }
}

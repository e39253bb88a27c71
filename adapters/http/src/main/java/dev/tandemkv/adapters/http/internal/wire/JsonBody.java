package dev.tandemkv.adapters.http.internal.wire;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One JSON document of a request, read in one pass without a tree. Confined to one thread.
 *
 * <p>Two kinds of fault are told apart: text that is not one JSON document in UTF-8 (400), and a document of the wrong shape (422). The first
 * wins wherever it stands: after a fault of shape the rest is still read.
 *
 * <p>Every {@code read} method takes the value under the parser's cursor and leaves the cursor at its last token.
 */
public final class JsonBody {

    /** Deeper nesting is no request of anybody's. */
    private static final int MAX_DEPTH = 128;

    private static final BigInteger UNSIGNED_LIMIT = BigInteger.ONE.shiftLeft(64);

    // UTF-8 without detection: a document in UTF-16 or with a byte order mark is not one.
    private static final JsonFactory FACTORY = new JsonFactoryBuilder()
            .disable(JsonFactory.Feature.CHARSET_DETECTION)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH).build())
            .build();

    /** What happens to fields that the reader does not know. */
    public enum UnknownFields {
        IGNORED,
        REFUSED
    }

    /** Takes the value of a field; answers whether it knows the field. */
    @FunctionalInterface
    public interface Fields {
        boolean take(String name) throws IOException, WireException;
    }

    /** Takes one element of a list. */
    @FunctionalInterface
    public interface Element {
        void take(String place) throws IOException, WireException;
    }

    /** Takes one entry of a map. */
    @FunctionalInterface
    public interface Entry {
        void take(String key, String place) throws IOException, WireException;
    }

    private final JsonParser parser;
    private final UnknownFields unknownFields;

    private JsonBody(JsonParser parser, UnknownFields unknownFields) {
        this.parser = parser;
        this.unknownFields = unknownFields;
    }

    /** Makes something of a document. */
    @FunctionalInterface
    public interface Reader<T> {
        T read(JsonBody body) throws IOException, WireException;
    }

    /**
     * Reads a document with a reader that starts at its first token.
     *
     * @throws WireException if it is none, or not of the shape that the reader wants
     */
    public static <T> T read(byte[] bytes, int length, UnknownFields unknownFields, Reader<T> reader)
            throws WireException {
        if (!Utf8.isValid(bytes, length)) {
            throw WireException.malformed("request body: not UTF-8 (expected: JSON in UTF-8)");
        }
        try (JsonParser parser = FACTORY.createParser(bytes, 0, length)) {
            if (parser.nextToken() == null) {
                throw WireException.malformed("request body: empty (expected: JSON)");
            }
            T made;
            try {
                made = reader.read(new JsonBody(parser, unknownFields));
            } catch (WireException e) {
                readOn(parser);
                throw e;
            }
            requireEnd(parser);
            return made;
        } catch (JsonProcessingException e) {
            throw WireException.malformed("request body: malformed at " + place(e) + " (expected: one JSON document)");
        } catch (IOException e) {
            throw new IllegalStateException("reading from memory", e);
        }
    }

    private static void readOn(JsonParser parser) throws IOException, WireException {
        while (!parser.getParsingContext().inRoot()) {
            if (parser.nextToken() == null) {
                return;
            }
        }
        requireEnd(parser);
    }

    private static void requireEnd(JsonParser parser) throws IOException, WireException {
        if (parser.nextToken() != null) {
            throw WireException.malformed("request body: text after the document (expected: one JSON document)");
        }
    }

    /** Where it went wrong; never what stands there. */
    private static String place(JsonProcessingException e) {
        return e.getLocation() == null
                ? "an unknown place"
                : "line " + e.getLocation().getLineNr() + ", column "
                        + e.getLocation().getColumnNr();
    }

    // ---- structures

    /** Reads an object of known fields; each may occur once. */
    public void object(String place, Fields fields) throws IOException, WireException {
        require(place, JsonToken.START_OBJECT, "an object");
        Set<String> seen = new HashSet<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            if (fields.take(name)) {
                if (!seen.add(name)) {
                    throw WireException.misshapen(name, "given twice", "one value");
                }
            } else if (unknownFields == UnknownFields.REFUSED) {
                throw WireException.misshapen(name, "unknown field", "a known field");
            } else {
                parser.skipChildren();
            }
        }
    }

    /** Reads an object whose keys are free; the last of equal keys counts. */
    public void map(String place, Entry entry) throws IOException, WireException {
        require(place, JsonToken.START_OBJECT, "a map");
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String key = parser.currentName();
            parser.nextToken();
            entry.take(key, place + '.' + key);
        }
    }

    public void list(String place, Element element) throws IOException, WireException {
        require(place, JsonToken.START_ARRAY, "a list");
        for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
            element.take(place + '[' + i + ']');
        }
    }

    // ---- values

    /** Whether the value is null, which stands for an absent one. */
    public boolean isNull() {
        return parser.currentToken() == JsonToken.VALUE_NULL;
    }

    public String text(String place) throws IOException, WireException {
        require(place, JsonToken.VALUE_STRING, "a string");
        String text = parser.getText();
        if (!Utf8.isText(text)) {
            throw WireException.malformed(place + ": half of a surrogate pair (expected: text)");
        }
        return text;
    }

    public @Nullable String textOrNull(String place) throws IOException, WireException {
        return isNull() ? null : text(place);
    }

    public boolean flag(String place) throws WireException {
        if (!parser.currentToken().isBoolean()) {
            throw misshapen(place, "true or false");
        }
        return parser.currentToken() == JsonToken.VALUE_TRUE;
    }

    public @Nullable Boolean flagOrNull(String place) throws WireException {
        return isNull() ? null : Boolean.valueOf(flag(place));
    }

    public double number(String place) throws IOException, WireException {
        if (!parser.currentToken().isNumeric()) {
            throw misshapen(place, "a number");
        }
        double value = parser.getDoubleValue();
        if (!Double.isFinite(value)) {
            throw WireException.malformed(place + ": number out of range (expected: a double)");
        }
        return value;
    }

    public @Nullable Double numberOrNull(String place) throws IOException, WireException {
        return isNull() ? null : Double.valueOf(number(place));
    }

    /** Unsigned 32-bit, as {@code int} bits. */
    public int unsigned32(String place) throws IOException, WireException {
        if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT
                || parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                || parser.getLongValue() >>> 32 != 0) {
            throw misshapen(place, "an unsigned 32-bit integer");
        }
        return (int) parser.getLongValue();
    }

    public @Nullable Integer unsigned32OrNull(String place) throws IOException, WireException {
        return isNull() ? null : Integer.valueOf(unsigned32(place));
    }

    /** Unsigned 64-bit, as {@code long} bits. */
    public long unsigned64(String place) throws IOException, WireException {
        if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT
                || (isLong() && parser.getLongValue() < 0)
                || (!isLong() && !fitsUnsigned())) {
            throw misshapen(place, "an unsigned 64-bit integer");
        }
        return isLong() ? parser.getLongValue() : parser.getBigIntegerValue().longValue();
    }

    public @Nullable Long unsigned64OrNull(String place) throws IOException, WireException {
        return isNull() ? null : Long.valueOf(unsigned64(place));
    }

    /** 64 bits, written signed or unsigned. */
    public long bits64(String place) throws IOException, WireException {
        if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT || (!isLong() && !fitsUnsigned())) {
            throw misshapen(place, "a 64-bit integer");
        }
        return isLong() ? parser.getLongValue() : parser.getBigIntegerValue().longValue();
    }

    /** A list of {@link #unsigned32}. */
    public int[] unsigned32List(String place) throws IOException, WireException {
        require(place, JsonToken.START_ARRAY, "a list");
        int[] values = new int[64];
        int count = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (count == values.length) {
                values = Arrays.copyOf(values, count * 2);
            }
            values[count] = unsigned32(place);
            count++;
        }
        return Arrays.copyOf(values, count);
    }

    /** A list of {@link #bits64}. */
    public long[] bits64List(String place) throws IOException, WireException {
        require(place, JsonToken.START_ARRAY, "a list");
        long[] values = new long[16];
        int count = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (count == values.length) {
                values = Arrays.copyOf(values, count * 2);
            }
            values[count] = bits64(place);
            count++;
        }
        return Arrays.copyOf(values, count);
    }

    private boolean isLong() throws IOException {
        return parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
    }

    private boolean fitsUnsigned() throws IOException {
        BigInteger value = parser.getBigIntegerValue();
        return value.signum() > 0 && value.compareTo(UNSIGNED_LIMIT) < 0;
    }

    private void require(String place, JsonToken token, String expectation) throws WireException {
        if (parser.currentToken() != token) {
            throw misshapen(place, expectation);
        }
    }

    /** Names the kind of value that was found, never the value: it may be a prompt's. */
    private WireException misshapen(String place, String expectation) {
        String found = switch (parser.currentToken()) {
            case START_OBJECT -> "an object";
            case START_ARRAY -> "a list";
            case VALUE_STRING -> "a string";
            case VALUE_NUMBER_FLOAT -> "a fraction";
            case VALUE_NUMBER_INT -> "an integer out of range or out of place";
            case VALUE_TRUE, VALUE_FALSE -> "a boolean";
            default -> "null";
        };
        return WireException.misshapen(place, found, expectation);
    }
}

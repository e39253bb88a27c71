package dev.tandemkv.adapters.tokenizer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import dev.tandemkv.adapters.tokenizer.TokenizerException.Failure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Reads the inside of a JSON string. */
final class JsonText {

    /** How long a text may be is the caller's to say, and said before it comes here. */
    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxStringLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private JsonText() {}

    static String decode(List<ByteBuffer> inside) {
        try (JsonParser parser = JSON.createParser(new PiecesInput(quoted(inside)))) {
            if (parser.nextToken() == JsonToken.VALUE_STRING) {
                String text = parser.getText();
                if (parser.nextToken() == null) {
                    return text;
                }
            }
        } catch (IOException quotesTheText) {
            // Told below, without the text.
        }
        throw new TokenizerException(
                Failure.INVALID_REQUEST, "prompt: cannot be read (expected: the inside of a JSON string)", null);
    }

    private static List<ByteBuffer> quoted(List<ByteBuffer> inside) {
        List<ByteBuffer> pieces = new ArrayList<>(inside.size() + 2);
        pieces.add(quote());
        pieces.addAll(inside);
        pieces.add(quote());
        return pieces;
    }

    private static ByteBuffer quote() {
        return ByteBuffer.wrap(new byte[] {'"'});
    }
}

package dev.tandemkv.adapters.tokenizer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.tandemkv.adapters.tokenizer.TokenizerException.Failure;
import java.io.IOException;
import java.util.Arrays;

/** Reads {@code tokens} of an answer. */
final class TokensReader {

    private TokensReader() {}

    static int[] read(byte[] answer, JsonFactory json) throws IOException {
        try (JsonParser parser = json.createParser(answer)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw unusable("is not an object");
            }
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                boolean tokens = parser.currentName().equals("tokens");
                JsonToken value = parser.nextToken();
                if (tokens && value == JsonToken.START_ARRAY) {
                    return tokens(parser);
                }
                parser.skipChildren();
            }
        }
        throw unusable("has no list of tokens");
    }

    private static int[] tokens(JsonParser parser) throws IOException {
        int[] ids = new int[1024];
        int count = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            long id = parser.currentToken() == JsonToken.VALUE_NUMBER_INT ? parser.getLongValue() : -1;
            if (id < 0 || id > 0xFFFF_FFFFL) {
                throw unusable("has a token that is no unsigned 32-bit number at position " + count);
            }
            if (count == ids.length) {
                ids = Arrays.copyOf(ids, 2 * count);
            }
            ids[count++] = (int) id;
        }
        return Arrays.copyOf(ids, count);
    }

    private static TokenizerException unusable(String what) {
        return new TokenizerException(Failure.UPSTREAM, "the tokenizer's answer " + what, null);
    }
}

package dev.tandemkv.adapters.tokenizer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.tandemkv.adapters.tokenizer.TokenizerException.Failure;
import dev.tandemkv.indexer.hash.Xxh3;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * What tells two conversations with the same words and other media apart: a hash of each medium's address or content. Media have no tokens
 * of their own before the engine expands them, so their identity is put on the first block: two prompts with different media share nothing
 * then, which can only understate what a cache holds.
 */
public final class MediaIdentity {

    private static final Set<String> PARTS =
            Set.of("image_url", "video_url", "audio_url", "input_audio", "image", "file");

    private static final Xxh3 HASH = Xxh3.seeded(0);

    private static final JsonFactory JSON = new JsonFactory();

    private MediaIdentity() {}

    /**
     * Hashes of all media, in order, for the first block; empty if there are none. Thread-safe.
     *
     * @throws TokenizerException if the body is not JSON
     */
    public static List<long[]> of(TokenizeRequest.Chat chat) {
        long[] found = new long[0];
        try (JsonParser parser = JSON.createParser(new PiecesInput(chat.body()))) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token == JsonToken.FIELD_NAME && PARTS.contains(parser.currentName())) {
                    parser.nextToken();
                    found = append(found, parser);
                }
            }
        } catch (IOException quotesTheBody) {
            throw new TokenizerException(Failure.INVALID_REQUEST, "body: cannot be read (expected: JSON)", null);
        }
        return found.length == 0 ? List.of() : List.of(found);
    }

    /** Every text inside the part counts: the address, or the content itself. */
    private static long[] append(long[] found, JsonParser parser) throws IOException {
        long[] hashes = found;
        int depth = 0;
        JsonToken token = parser.currentToken();
        while (token != null) {
            if (token.isStructStart()) {
                depth++;
            } else if (token.isStructEnd()) {
                depth--;
            } else if (token == JsonToken.VALUE_STRING) {
                byte[] text = parser.getText().getBytes(StandardCharsets.UTF_8);
                hashes = Arrays.copyOf(hashes, hashes.length + 1);
                hashes[hashes.length - 1] = HASH.hash(text);
            }
            if (depth == 0) {
                break;
            }
            token = parser.nextToken();
        }
        return hashes;
    }
}

package dev.tandemkv.adapters.extproc;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.google.protobuf.ByteString;
import dev.tandemkv.adapters.tokenizer.TokenizeRequest;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What the body of a request says, read in one pass that makes no text of a prompt: it only learns where the prompt stands, and the
 * tokenizer gets those bytes of the body.
 *
 * <p>Of several prompts in one request the first one routes it: they go to one worker in any case.
 *
 * @param model the client's name for the model; empty if it has none
 * @param prompt what to tokenize, or {@code null} where the client sent token ids
 * @param tokenIds the client's token ids, or {@code null}
 * @param cacheSalt {@code nvext.cache_salt}, else {@code cache_salt}, or {@code null}
 * @param expectedOutputTokens {@code nvext.agent_hints.osl}, or {@code null}
 */
record RequestContent(
        String model,
        @Nullable TokenizeRequest prompt,
        int @Nullable [] tokenIds,
        @Nullable String cacheSalt,
        @Nullable Integer expectedOutputTokens) {

    /** @throws Refusal if it is no JSON object with a prompt or messages */
    static RequestContent of(ByteString body, JsonFactory json) {
        try (JsonParser parser = json.createParser(body.newInput())) {
            return new Reader(parser, body).read();
        } catch (JsonParseException | StreamConstraintsException e) {
            throw Refusal.badRequest(
                    "body: not acceptable JSON at byte " + e.getLocation().getByteOffset());
        } catch (IOException e) {
            throw Refusal.badRequest("body: not acceptable JSON");
        }
    }

    /**
     * One pass over the fields of the body. A text is not read but passed over, and only the token after it tells where it ended: while
     * {@code textOpen}, the text at {@code textStart} is the token before the parser's.
     */
    private static final class Reader {
        private static final int NONE = -1;

        private final JsonParser parser;
        private final ByteString body;
        private String model = "";
        private int textStart = NONE;
        private int textEnd = NONE;
        private boolean textOpen;
        private int @Nullable [] tokenIds;
        private boolean conversation;
        private @Nullable String salt;
        private @Nullable String extensionSalt;
        private @Nullable Integer expectedOutputTokens;

        Reader(JsonParser parser, ByteString body) {
            this.parser = parser;
            this.body = body;
        }

        RequestContent read() throws IOException {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw Refusal.badRequest("body: not a JSON object");
            }
            while (next() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                parser.nextToken();
                switch (name) {
                    case "model" -> model = string("model");
                    case "prompt", "input" -> prompt(name);
                    case "messages" -> messages();
                    case "cache_salt" -> salt = optional();
                    case "nvext" -> extension();
                    default -> parser.skipChildren();
                }
            }
            if (next() != null) {
                throw Refusal.badRequest("body: text after the JSON object");
            }
            return new RequestContent(
                    model, toTokenize(), tokenIds, extensionSalt != null ? extensionSalt : salt, expectedOutputTokens);
        }

        /** The next token, which tells where a text before it ended: nothing but white space and a comma lies between. */
        private @Nullable JsonToken next() throws IOException {
            JsonToken token = parser.nextToken();
            if (textOpen) {
                textOpen = false;
                textEnd = Math.toIntExact(parser.currentTokenLocation().getByteOffset());
                do {
                    textEnd--;
                } while (body.byteAt(textEnd) != '"');
            }
            return token;
        }

        private @Nullable TokenizeRequest toTokenize() {
            if (conversation) {
                tokenIds = null;
                return new TokenizeRequest.Chat(model, body.asReadOnlyByteBufferList());
            }
            if (tokenIds != null) {
                return null;
            }
            if (textStart == NONE) {
                throw Refusal.badRequest("prompt: missing (expected: prompt or messages)");
            }
            return new TokenizeRequest.Completion(
                    model, body.substring(textStart, textEnd).asReadOnlyByteBufferList());
        }

        private void messages() throws IOException {
            if (parser.currentToken() != JsonToken.START_ARRAY) {
                throw Refusal.badRequest("messages: not a list");
            }
            parser.skipChildren();
            conversation = true;
        }

        /** Where a client says it twice, the last one counts, as with an engine. */
        private void prompt(String field) throws IOException {
            textStart = NONE;
            tokenIds = null;
            switch (parser.currentToken()) {
                case VALUE_STRING -> text();
                case START_ARRAY -> prompts(field);
                case VALUE_NULL -> {}
                default -> throw Refusal.badRequest(field + ": neither text nor token ids");
            }
        }

        private void text() {
            long quote = parser.currentTokenLocation().getByteOffset();
            if (quote < 0) {
                throw Refusal.badRequest("body: not UTF-8");
            }
            textStart = Math.toIntExact(quote) + 1;
            textOpen = true;
        }

        private void prompts(String field) throws IOException {
            JsonToken first = parser.nextToken();
            if (first == JsonToken.VALUE_NUMBER_INT) {
                tokenIds = tokens(field);
            } else if (first == JsonToken.VALUE_STRING || first == JsonToken.START_ARRAY) {
                prompt(field);
                while (next() != JsonToken.END_ARRAY) {
                    parser.skipChildren();
                }
            } else {
                throw Refusal.badRequest(field + ": neither text nor token ids");
            }
        }

        private int[] tokens(String field) throws IOException {
            int[] ids = new int[256];
            int count = 0;
            for (JsonToken token = parser.currentToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
                long id = token == JsonToken.VALUE_NUMBER_INT ? parser.getLongValue() : -1;
                if (id < 0 || id > 0xFFFF_FFFFL) {
                    throw Refusal.badRequest(field + ": a token id out of range at position " + count);
                }
                if (count == ids.length) {
                    ids = Arrays.copyOf(ids, 2 * count);
                }
                ids[count++] = (int) id;
            }
            return Arrays.copyOf(ids, count);
        }

        private void extension() throws IOException {
            if (parser.currentToken() != JsonToken.START_OBJECT) {
                parser.skipChildren();
                return;
            }
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                parser.nextToken();
                switch (name) {
                    case "cache_salt" -> extensionSalt = optional();
                    case "agent_hints" -> hints();
                    default -> parser.skipChildren();
                }
            }
        }

        private void hints() throws IOException {
            if (parser.currentToken() != JsonToken.START_OBJECT) {
                parser.skipChildren();
                return;
            }
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                JsonToken value = parser.nextToken();
                if (name.equals("osl") && value == JsonToken.VALUE_NUMBER_INT) {
                    long hint = parser.getLongValue();
                    expectedOutputTokens = hint < 0 || hint > Integer.MAX_VALUE ? null : Integer.valueOf((int) hint);
                } else {
                    parser.skipChildren();
                }
            }
        }

        private String string(String field) throws IOException {
            if (parser.currentToken() != JsonToken.VALUE_STRING) {
                throw Refusal.badRequest(field + ": not a string");
            }
            return parser.getText();
        }

        private @Nullable String optional() throws IOException {
            if (parser.currentToken() == JsonToken.VALUE_STRING
                    && !parser.getText().isBlank()) {
                return parser.getText().strip();
            }
            parser.skipChildren();
            return null;
        }
    }
}

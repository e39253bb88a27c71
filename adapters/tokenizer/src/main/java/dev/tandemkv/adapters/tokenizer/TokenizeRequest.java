package dev.tandemkv.adapters.tokenizer;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;

/** What to tokenize. */
public sealed interface TokenizeRequest permits TokenizeRequest.Completion, TokenizeRequest.Chat {

    /** The model as the client named it. */
    String model();

    /** How many bytes of the client's text there are, for limits; escapes count as they are written. */
    long bytes();

    /**
     * A prompt without a template, as the client wrote it, so that it need not become a string on its way to an engine.
     *
     * @param model the model as the client named it
     * @param json what stands between the quotes of the prompt as a JSON string, in UTF-8, in pieces, in order; read without changing any
     *     position. The caller has made sure that it is that: an engine is asked with these bytes
     */
    record Completion(String model, List<ByteBuffer> json) implements TokenizeRequest {

        public Completion {
            Objects.requireNonNull(model, "model");
            json = List.copyOf(json);
        }

        /**
         * From a text.
         *
         * @throws IllegalArgumentException if it holds half a surrogate pair
         */
        public static Completion of(String model, String text) {
            return new Completion(
                    model,
                    List.of(ByteBuffer.wrap(JsonStringEncoder.getInstance().quoteAsUTF8(text))));
        }

        /**
         * The prompt in one string, made anew at each call; may hold half a surrogate pair, as JSON may.
         *
         * @throws TokenizerException if it is not the inside of a JSON string
         */
        public String text() {
            return JsonText.decode(json);
        }

        @Override
        public long bytes() {
            return Pieces.bytes(json);
        }

        /** Tells the length only: text never reaches a log. */
        @Override
        public String toString() {
            return "Completion[" + bytes() + " bytes]";
        }
    }

    /**
     * A conversation, to which the model's chat template is applied. The client's body goes along whole, because everything in it may
     * matter to the template: tools, template arguments, whether the last message is continued.
     *
     * @param model the model as the client named it
     * @param body the JSON body of the chat completion request, in pieces, in order; read without changing any position
     */
    record Chat(String model, List<ByteBuffer> body) implements TokenizeRequest {

        public Chat {
            Objects.requireNonNull(model, "model");
            body = List.copyOf(body);
        }

        @Override
        public long bytes() {
            return Pieces.bytes(body);
        }

        /** Tells the length only: text never reaches a log. */
        @Override
        public String toString() {
            return "Chat[" + bytes() + " bytes]";
        }
    }
}

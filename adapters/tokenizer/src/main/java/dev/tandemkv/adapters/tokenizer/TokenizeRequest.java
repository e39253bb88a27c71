package dev.tandemkv.adapters.tokenizer;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;

/** What to tokenize. */
public sealed interface TokenizeRequest permits TokenizeRequest.Completion, TokenizeRequest.Chat {

    /** The model as the client named it. */
    String model();

    /** How many bytes of the client's text there are, for limits; an approximation for {@link Completion}. */
    long bytes();

    /**
     * A prompt without a template.
     *
     * @param model the model as the client named it
     * @param text the prompt
     */
    record Completion(String model, String text) implements TokenizeRequest {

        public Completion {
            Objects.requireNonNull(model, "model");
            Objects.requireNonNull(text, "text");
        }

        @Override
        public long bytes() {
            return text.length();
        }

        /** Tells the length only: text never reaches a log. */
        @Override
        public String toString() {
            return "Completion[" + text.length() + " chars]";
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
            long bytes = 0;
            for (ByteBuffer piece : body) {
                bytes += piece.remaining();
            }
            return bytes;
        }

        /** Tells the length only: text never reaches a log. */
        @Override
        public String toString() {
            return "Chat[" + bytes() + " bytes]";
        }
    }
}

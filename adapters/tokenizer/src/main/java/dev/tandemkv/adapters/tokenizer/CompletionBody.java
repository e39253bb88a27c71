package dev.tandemkv.adapters.tokenizer;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The question about a prompt without a template: the prompt's own pieces between a beginning and an end. */
final class CompletionBody {

    private CompletionBody() {}

    static List<ByteBuffer> of(TokenizeRequest.Completion request) {
        List<ByteBuffer> pieces = new ArrayList<>(request.json().size() + 5);
        if (request.model().isEmpty()) {
            pieces.add(ascii("{\"prompt\":\""));
        } else {
            pieces.add(ascii("{\"model\":\""));
            pieces.add(ByteBuffer.wrap(JsonStringEncoder.getInstance().quoteAsUTF8(request.model())));
            pieces.add(ascii("\",\"prompt\":\""));
        }
        pieces.addAll(request.json());
        pieces.add(ascii("\"}"));
        return pieces;
    }

    private static ByteBuffer ascii(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }
}

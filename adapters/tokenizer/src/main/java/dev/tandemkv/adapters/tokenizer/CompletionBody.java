package dev.tandemkv.adapters.tokenizer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The question about a prompt without a template. */
final class CompletionBody {

    private CompletionBody() {}

    static byte[] of(TokenizeRequest.Completion request, JsonFactory json) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(request.text().length() + 128);
        try (JsonGenerator out = json.createGenerator(bytes)) {
            out.writeStartObject();
            if (!request.model().isEmpty()) {
                out.writeStringField("model", request.model());
            }
            out.writeStringField("prompt", request.text());
            out.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}

package dev.tandemkv.adapters.tokenizer.huggingface;

import dev.tandemkv.adapters.tokenizer.TokenizeRequest;

/**
 * A model's chat template, which a {@code tokenizer.json} does not carry: from a conversation to the text that the engine would tokenize,
 * character for character. Called from several threads at once, on the tokenizer's executor.
 */
@FunctionalInterface
public interface ChatTemplate {

    /**
     * Renders.
     *
     * @param chat with the client's whole body: messages, tools, template arguments; leaves the buffers' positions alone
     * @throws dev.tandemkv.adapters.tokenizer.TokenizerException to refuse a conversation; reaches the caller as it is, so its message must
     *     not quote the client. Any other exception is told by its class alone
     */
    String render(TokenizeRequest.Chat chat);
}

package dev.tandemkv.adapters.tokenizer;

import java.util.concurrent.CompletionStage;

/**
 * Turns what a client sent into the token ids that the engine will see. Implementations are thread-safe, bound what they take and how long
 * they wait, and never log text or token ids.
 */
public interface Tokenizer extends AutoCloseable {

    /**
     * Tokenizes. Never throws what the stage can carry; cancelling the stage withdraws the request.
     *
     * @return fails with {@link TokenizerException}
     */
    CompletionStage<TokenizedPrompt> tokenize(TokenizeRequest request);

    /** Fails what is under way. Idempotent. */
    @Override
    void close();
}

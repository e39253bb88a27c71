package dev.tandemkv.adapters.tokenizer.huggingface;

/**
 * Whether the file's post-processor adds tokens around a text, for example one that begins a sequence. Those that are written out in the
 * text are recognized either way.
 */
public enum SpecialTokens {
    /** As {@code add_special_tokens: true} of a request to an engine. */
    ADDED,
    /** As {@code add_special_tokens: false}. */
    NONE
}

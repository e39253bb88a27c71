package dev.tandemkv.adapters.tokenizer.huggingface;

/** From text to ids by memory outside the heap. Encodes on several threads at once; not once it is closed. */
interface Encoder extends AutoCloseable {

    long[] encode(String text, SpecialTokens special);

    /** Frees the memory. Called once, while nothing encodes. */
    @Override
    void close();
}

package dev.tandemkv.adapters.tokenizer.huggingface;

import ai.djl.engine.EngineException;
import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * The library, over one file as a stream: given a path, it looks for other files beside it. Of an encoding only the ids are fetched: the
 * rest (the tokens' texts, their places, masks) takes fifteen times as much memory, and as long again.
 */
final class NativeEncoder implements Encoder {

    /** A prompt is neither cut nor filled up, whatever the file says about batches of a training run. */
    private static final Map<String, String> OPTIONS = Map.of("truncation", "false", "padding", "false");

    private final HuggingFaceTokenizer tokenizer;

    private NativeEncoder(HuggingFaceTokenizer tokenizer) {
        this.tokenizer = tokenizer;
    }

    static NativeEncoder load(Path file) throws IOException {
        try (InputStream json = Files.newInputStream(file)) {
            return new NativeEncoder(HuggingFaceTokenizer.newInstance(json, OPTIONS));
        } catch (EngineException e) {
            throw new IllegalStateException("the native library of the tokenizer cannot be loaded", e);
        } catch (RuntimeException e) {
            throw new IllegalArgumentException("file: " + file + " (expected: a tokenizer.json)", e);
        }
    }

    @Override
    public long[] encode(String text, SpecialTokens special) {
        long encoding = TokenizersLibrary.LIB.encode(tokenizer.getHandle(), text, special == SpecialTokens.ADDED);
        try {
            return TokenizersLibrary.LIB.getTokenIds(encoding);
        } finally {
            TokenizersLibrary.LIB.deleteEncoding(encoding);
        }
    }

    @Override
    public void close() {
        tokenizer.close();
    }
}

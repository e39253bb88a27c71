/** A port for tokenizers, and the engine's own over HTTP. */
@org.jspecify.annotations.NullMarked
package dev.tandemkv.adapters.tokenizer;

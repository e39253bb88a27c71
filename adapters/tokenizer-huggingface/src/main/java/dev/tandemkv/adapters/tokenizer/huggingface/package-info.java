/** A tokenizer over a local {@code tokenizer.json}, for hosts that would rather not ask an engine. */
@org.jspecify.annotations.NullMarked
package dev.tandemkv.adapters.tokenizer.huggingface;

package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.BlockHashes;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.HashedPrompt;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import dev.tandemkv.indexer.hash.TrackingHasher;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.config.TrackingConfig;
import org.jspecify.annotations.Nullable;

/**
 * Turns the prompts of one partition into hashes: local ones for the index, tracking ones for the ledger. Thread-safe; works on the
 * caller's thread.
 */
public final class PromptHashing {

    private final BlockHasher plain;
    private final BlockHasher windowed;
    private final boolean eagle;
    private final TrackingConfig tracking;
    private final @Nullable TrackingHasher keyed;
    private final SharedRandom random;
    /** The scope of the last prompt that had one; scopes repeat, and deriving one costs more than hashing a block. */
    private volatile HashScope lastScope = HashScope.BASE;

    /** @param keyed the keyed tracking hash, or {@code null} for the public one */
    PromptHashing(
            int blockSize,
            boolean eagle,
            TrackingConfig tracking,
            @Nullable TrackingHasher keyed,
            SharedRandom random) {
        plain = BlockHasher.ofBlockSize(blockSize);
        windowed = plain.withLookahead(1);
        this.eagle = eagle;
        this.tracking = tracking;
        this.keyed = keyed;
        this.random = random;
    }

    public PreparedPrompt prepare(Prompt prompt, RouterConfigOverride override) {
        return prompt instanceof Prompt.Tokens tokens
                ? prepare(tokens, shares(override))
                : prepare((Prompt.Hashes) prompt, shares(override));
    }

    private boolean shares(RouterConfigOverride override) {
        Boolean own = override.assumeKvReuse();
        return own == null ? tracking.assumeKvReuse() : own;
    }

    private PreparedPrompt prepare(Prompt.Tokens tokens, boolean shares) {
        BlockHasher hasher = tokens.eagle() == null ? of(eagle) : of(tokens.eagle());
        HashScope scope = scope(tokens);
        MultimodalObjects objects = tokens.multimodal().isEmpty()
                ? MultimodalObjects.NONE
                : MultimodalObjects.perBlock(tokens.multimodal());
        BlockHashes hashes = hasher.hash(tokens.tokenIds(), scope, objects);
        long[] forLedger;
        if (!shares) {
            forLedger = unshared(hashes.size());
        } else if (keyed != null) {
            forLedger = keyed.hash(
                    HashedPrompt.of(tokens.tokenIds(), hasher).withScope(scope).withObjects(objects));
        } else {
            forLedger = hashes.sequences();
        }
        return prepared(hashes.locals(), forLedger, tokens.islTokens());
    }

    private PreparedPrompt prepare(Prompt.Hashes given, boolean shares) {
        long[] forLedger = shares ? given.sequenceHashes() : unshared(given.sequenceHashes().length);
        return prepared(given.blockHashes(), forLedger, given.islTokens());
    }

    private PreparedPrompt prepared(long[] locals, long[] forLedger, long islTokens) {
        return PreparedPrompt.of(locals, forLedger, islTokens, plain.blockSize(), tracking.activeBlocks());
    }

    private long[] unshared(int blocks) {
        return tracking.activeBlocks() ? random.unshared(blocks) : new long[0];
    }

    private BlockHasher of(boolean windows) {
        return windows ? windowed : plain;
    }

    private HashScope scope(Prompt prompt) {
        String lora = prompt.loraName() == null ? "" : prompt.loraName();
        String namespace = prompt.cacheNamespace() == null ? "" : prompt.cacheNamespace();
        HashScope last = lastScope;
        if (last.loraName().equals(lora) && last.cacheNamespace().equals(namespace)) {
            return last;
        }
        HashScope scope = HashScope.of(lora, namespace);
        lastScope = scope;
        return scope;
    }
}

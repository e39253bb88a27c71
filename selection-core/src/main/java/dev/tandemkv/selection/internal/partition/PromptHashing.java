package dev.tandemkv.selection.internal.partition;

import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.indexer.hash.BlockHasher;
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

    private static final long[] NOT_TRACKED = {};

    private final Ticker ticker;
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
            Ticker ticker,
            int blockSize,
            boolean eagle,
            TrackingConfig tracking,
            @Nullable TrackingHasher keyed,
            SharedRandom random) {
        this.ticker = ticker;
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
                : prepare((Prompt.Hashes) prompt);
    }

    private boolean shares(RouterConfigOverride override) {
        Boolean own = override.assumeKvReuse();
        return own == null ? tracking.assumeKvReuse() : own;
    }

    private PreparedPrompt prepare(Prompt.Tokens tokens, boolean shares) {
        long began = ticker.read();
        BlockHasher hasher = tokens.eagle() == null ? of(eagle) : of(tokens.eagle());
        HashScope scope = scope(tokens);
        MultimodalObjects objects = tokens.multimodal().isEmpty()
                ? MultimodalObjects.NONE
                : MultimodalObjects.perBlock(tokens.multimodal());
        int[] ids = tokens.tokenIds();
        long[] locals = new long[hasher.blocks(ids.length)];
        hasher.locals(ids, ids.length, scope, objects, locals);
        long hashed = ticker.read();
        long[] forLedger = NOT_TRACKED;
        if (tracking.activeBlocks() && locals.length > 0) {
            forLedger = shares ? chained(tokens, hasher, scope, objects, locals) : random.unshared(locals.length);
        }
        return new PreparedPrompt(
                locals,
                forLedger,
                ids.length,
                blocksOf(ids.length),
                hashed - began,
                forLedger.length == 0 ? 0 : ticker.read() - hashed);
    }

    private long[] chained(
            Prompt.Tokens tokens, BlockHasher hasher, HashScope scope, MultimodalObjects objects, long[] locals) {
        if (keyed != null) {
            return keyed.hash(
                    HashedPrompt.of(tokens.tokenIds(), hasher).withScope(scope).withObjects(objects));
        }
        long[] chain = new long[locals.length];
        BlockHasher.chain(locals, locals.length, chain);
        return chain;
    }

    /** Whoever brings tracking hashes says with them what is shared. */
    private PreparedPrompt prepare(Prompt.Hashes given) {
        long[] forLedger = tracking.activeBlocks() ? given.sequenceHashes() : NOT_TRACKED;
        return new PreparedPrompt(given.blockHashes(), forLedger, given.islTokens(), blocksOf(given.islTokens()), 0, 0);
    }

    private long blocksOf(long islTokens) {
        int blockSize = plain.blockSize();
        return islTokens / blockSize + (islTokens % blockSize == 0 ? 0 : 1);
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

package dev.tandemkv.indexer.hash;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of a request together with everything their hashes depend on, and those hashes, computed once when first asked for. An
 * immutable value, thread-safe: a change of scope, multimodal objects or geometry is another value, which starts without hashes, so a
 * stale hash cannot be seen.
 */
public final class HashedPrompt {

    private final int[] tokens;
    private final BlockHasher hasher;
    private final HashScope scope;
    private final MultimodalObjects objects;

    /** Written by whoever computes it first; two threads may compute equal values. */
    private volatile @Nullable BlockHashes hashes;

    private HashedPrompt(int[] tokens, BlockHasher hasher, HashScope scope, MultimodalObjects objects) {
        this.tokens = tokens;
        this.hasher = Objects.requireNonNull(hasher, "hasher");
        this.scope = Objects.requireNonNull(scope, "scope");
        this.objects = Objects.requireNonNull(objects, "objects");
    }

    /** A text prompt in the base scope. The tokens (unsigned 32-bit ids) are copied. */
    public static HashedPrompt of(int[] tokens, BlockHasher hasher) {
        return new HashedPrompt(tokens.clone(), hasher, HashScope.BASE, MultimodalObjects.NONE);
    }

    public HashedPrompt withScope(HashScope other) {
        return other.equals(scope) ? this : new HashedPrompt(tokens, hasher, other, objects);
    }

    public HashedPrompt withObjects(MultimodalObjects other) {
        return other.equals(objects) ? this : new HashedPrompt(tokens, hasher, scope, other);
    }

    /** The same prompt in another geometry, for example that of the other pool. */
    public HashedPrompt withHasher(BlockHasher other) {
        return other.equals(hasher) ? this : new HashedPrompt(tokens, other, scope, objects);
    }

    /** Number of tokens, partial tail included. */
    public int length() {
        return tokens.length;
    }

    public BlockHasher hasher() {
        return hasher;
    }

    public HashScope scope() {
        return scope;
    }

    public MultimodalObjects objects() {
        return objects;
    }

    /** The hashes of the complete blocks. */
    public BlockHashes hashes() {
        BlockHashes known = hashes;
        if (known == null) {
            known = hasher.hash(tokens, scope, objects);
            hashes = known;
        }
        return known;
    }

    /** The hashes that an active-sequence ledger counts blocks by; computed on each call. */
    public long[] trackingHashes(TrackingHasher tracking) {
        return tracking.hash(this);
    }

    /** Not copied; package-private so that nobody else can change it. */
    int[] tokens() {
        return tokens;
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof HashedPrompt other
                && hasher.equals(other.hasher)
                && scope.equals(other.scope)
                && objects.equals(other.objects)
                && Arrays.equals(tokens, other.tokens);
    }

    @Override
    public int hashCode() {
        return Objects.hash(Arrays.hashCode(tokens), hasher, scope, objects);
    }

    /** The length only; tokens belong in no log. */
    @Override
    public String toString() {
        return "HashedPrompt[" + tokens.length + " tokens, " + hasher + ", " + scope + ']';
    }
}

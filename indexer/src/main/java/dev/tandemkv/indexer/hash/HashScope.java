package dev.tandemkv.indexer.hash;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Whose blocks a hash tells apart: the adapter and the tenant. Equal tokens under two scopes have different hashes. Immutable,
 * thread-safe; holds the hash function of its seed, so a host that keeps its scopes derives each of them once.
 *
 * <p>{@code seed = 1337 + XXH3(utf8(loraName), 0) + XXH3(utf8(cacheNamespace), 1)}, modulo 2^64, where an empty name adds nothing. The
 * inner seeds differ, so one text used as adapter and as namespace gives two scopes. The same sum as Dynamo's kv-router.
 */
public final class HashScope {

    /** Seed of blocks without adapter and namespace, and of every chain. */
    public static final long BASE_SEED = 1337;

    private static final Xxh3 LORA = Xxh3.seeded(0);
    private static final Xxh3 NAMESPACE = Xxh3.seeded(1);

    /** Neither adapter nor namespace. */
    public static final HashScope BASE = new HashScope("", "");

    private final String loraName;
    private final String cacheNamespace;
    private final Xxh3 blocks;

    private HashScope(String loraName, String cacheNamespace) {
        this.loraName = loraName;
        this.cacheNamespace = cacheNamespace;
        long seed = BASE_SEED;
        if (!loraName.isEmpty()) {
            seed += LORA.hash(loraName.getBytes(StandardCharsets.UTF_8));
        }
        if (!cacheNamespace.isEmpty()) {
            seed += NAMESPACE.hash(cacheNamespace.getBytes(StandardCharsets.UTF_8));
        }
        blocks = Xxh3.seeded(seed);
    }

    /**
     * The scope of a request or an event.
     *
     * @param loraName adapter, or {@code null} or empty for none
     * @param cacheNamespace tenant or cache salt, or {@code null} or empty for none
     */
    public static HashScope of(@Nullable String loraName, @Nullable String cacheNamespace) {
        String lora = Objects.requireNonNullElse(loraName, "");
        String namespace = Objects.requireNonNullElse(cacheNamespace, "");
        return lora.isEmpty() && namespace.isEmpty() ? BASE : new HashScope(lora, namespace);
    }

    /** The adapter's name; empty for none. */
    public String loraName() {
        return loraName;
    }

    /** The tenant's cache namespace; empty for none. */
    public String cacheNamespace() {
        return cacheNamespace;
    }

    /** The seed of every block of this scope. */
    public long seed() {
        return blocks.seed();
    }

    Xxh3 blocks() {
        return blocks;
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return o instanceof HashScope other
                && loraName.equals(other.loraName)
                && cacheNamespace.equals(other.cacheNamespace);
    }

    @Override
    public int hashCode() {
        return Objects.hash(loraName, cacheNamespace);
    }

    /** Names the adapter; of the namespace, which may be a tenant's secret salt, only whether there is one. */
    @Override
    public String toString() {
        return "HashScope[lora=" + (loraName.isEmpty() ? "none" : loraName)
                + (cacheNamespace.isEmpty() ? "" : ", salted") + ']';
    }
}

package dev.tandemkv.adapters.enginewire.neutral;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.hash.BlockHasher;
import java.util.Objects;

/**
 * What one listener listens to. Immutable.
 *
 * @param listener the worker, and the rank of batches that name none
 * @param hasher block size and look-ahead of the partition: the hasher of its requests
 * @param family whose events they are
 * @param maxRanks most ranks that batches may name, default 1,024
 * @param rememberedNamespacesPerRank most blocks of a rank whose cache namespace is remembered, default 262,144; blocks without one take no
 *     room
 */
public record NormalizerConfig(
        WorkerRank listener, BlockHasher hasher, EngineFamily family, int maxRanks, int rememberedNamespacesPerRank) {

    /** @throws IllegalArgumentException if a bound or the block size is below 1 */
    public NormalizerConfig {
        Objects.requireNonNull(listener, "listener");
        Objects.requireNonNull(family, "family");
        requirePositive("hasher.blockSize", hasher.blockSize());
        requirePositive("maxRanks", maxRanks);
        requirePositive("rememberedNamespacesPerRank", rememberedNamespacesPerRank);
    }

    private static void requirePositive(String field, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(field + ": " + value + " (expected: >= 1)");
        }
    }

    /** With the default bounds. */
    public static NormalizerConfig of(WorkerRank listener, BlockHasher hasher, EngineFamily family) {
        return new NormalizerConfig(listener, hasher, family, 1_024, 262_144);
    }

    /** Checked before a rank is added, so threads that race can pass the bound by their number. */
    void requireRoom(int known, int rank) {
        if (known >= maxRanks) {
            throw new BadRequestException(
                    "data_parallel_rank",
                    Integer.toUnsignedString(rank),
                    "one of the " + maxRanks + " ranks heard first");
        }
    }
}

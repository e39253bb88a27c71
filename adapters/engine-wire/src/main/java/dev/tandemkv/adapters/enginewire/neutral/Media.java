package dev.tandemkv.adapters.enginewire.neutral;

import dev.tandemkv.indexer.Tier;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The engines' names of places, as tiers. Compared without case, because one connector of vLLM writes {@code cpu}. */
final class Media {

    private Media() {}

    /** The tier of a medium, or {@code null} if the name is unknown: its blocks must not be taken for blocks on the device. */
    static @Nullable Tier tier(@Nullable String medium) {
        if (medium == null) {
            return Tier.DEVICE;
        }
        return switch (medium.toUpperCase(Locale.ROOT)) {
            case "", "GPU", "DEVICE" -> Tier.DEVICE;
            case "CPU", "CPU_PINNED", "CPU_TIER1" -> Tier.HOST_PINNED;
            case "CPU_TIER2", "DISK", "NVME", "STORAGE", "FS", "OBJ" -> Tier.DISK;
            case "EXTERNAL", "NETWORK", "REMOTE", "SHARED" -> Tier.EXTERNAL;
            default -> null;
        };
    }

    /** Whether the cache is the worker's own; a locality that is not known is not. */
    static boolean isLocal(@Nullable String locality) {
        return locality == null || locality.equalsIgnoreCase("LOCAL");
    }
}

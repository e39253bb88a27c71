package dev.tandemkv.selection;

import dev.tandemkv.catalog.WorkerRank;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What one rank holds of a prompt, in blocks.
 *
 * @param worker the rank
 * @param deviceBlocks blocks on the device
 * @param hostExtensionBlocks blocks in host memory that continue there
 * @param diskExtensionBlocks blocks on disk or in an external store that continue there
 * @param sharedBeyondDeviceBlocks blocks behind the device prefix that the shared cache holds; {@code null} without one
 * @param creditBlocks what the built-in cost credits for all of it
 */
public record RankOverlap(
        WorkerRank worker,
        int deviceBlocks,
        int hostExtensionBlocks,
        int diskExtensionBlocks,
        @Nullable Integer sharedBeyondDeviceBlocks,
        double creditBlocks) {

    public RankOverlap {
        Objects.requireNonNull(worker, "worker");
    }
}

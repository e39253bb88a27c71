package dev.tandemkv.selection;

import dev.tandemkv.catalog.WorkerRank;
import java.util.Objects;

/**
 * Where the chosen rank can fetch a longer prefix of the prompt than it holds itself.
 *
 * @param source the rank that holds it; its worker has the same hint role as the chosen one
 * @param controlEndpoint where the source is asked for it
 * @param blocks leading blocks of the prompt on the source's device
 * @param targetBlocks leading blocks that the chosen rank holds on its device and in host memory; fewer
 * @param lastBlockHash the source's own hash of the last of its blocks, which names the chain
 */
public record KvHint(WorkerRank source, String controlEndpoint, int blocks, int targetBlocks, long lastBlockHash) {

    public KvHint {
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(controlEndpoint, "controlEndpoint");
    }
}

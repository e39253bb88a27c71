package dev.tandemkv.selection.host;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;

/** An index that lies in another process. */
@FunctionalInterface
public interface RemoteIndex {

    /**
     * What each rank holds of a prompt.
     *
     * @param partition whose ranks
     * @param blockHashes local hash of each block; must not be changed
     */
    CompletionStage<List<Match>> lookup(PartitionKey partition, long[] blockHashes);

    /**
     * Several indexes that each know some of the ranks, asked at once. Each rank belongs in one of them. If one fails, the lookup
     * fails: with the answers of the others alone its ranks would look empty, and nobody would notice.
     *
     * @param indexes at least one
     * @throws IllegalArgumentException if there is none
     */
    static RemoteIndex joined(List<? extends RemoteIndex> indexes) {
        return new JoinedIndex(indexes);
    }

    /**
     * What one rank holds, in blocks from the start of the prompt.
     *
     * @param rank which
     * @param device blocks on the device
     * @param hostExtension blocks in host memory that continue there
     * @param diskExtension blocks on disk or in an external store that continue there
     */
    record Match(WorkerRank rank, int device, int hostExtension, int diskExtension) {

        public Match {
            Objects.requireNonNull(rank, "rank");
            if (device < 0 || hostExtension < 0 || diskExtension < 0) {
                throw new IllegalArgumentException("match of " + rank + ": " + device + ", " + hostExtension + ", "
                        + diskExtension + " (expected: none below 0)");
            }
        }
    }
}

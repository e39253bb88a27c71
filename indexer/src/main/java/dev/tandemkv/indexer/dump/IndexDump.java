package dev.tandemkv.indexer.dump;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.indexer.event.RankCheckpoint;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Objects;

/**
 * The content of indexes, read back whole and checked, ready to be restored. Immutable.
 *
 * @param partitions each once
 */
public record IndexDump(List<Partition> partitions) {

    /** Media type of our own form, for services that offer both. */
    public static final String MEDIA_TYPE = "application/vnd.tandemkv.dump+json";

    public IndexDump {
        partitions = List.copyOf(partitions);
    }

    /**
     * One partition.
     *
     * @param key model and routing group
     * @param blockSize tokens of one block, unsigned 32-bit
     * @param ranks each once
     */
    public record Partition(PartitionKey key, int blockSize, List<RankCheckpoint> ranks) {
        public Partition {
            Objects.requireNonNull(key, "key");
            ranks = List.copyOf(ranks);
        }
    }

    /**
     * Reads a dump in either form, told apart by its first field. Reads to the end of the dump and leaves the stream open.
     *
     * @throws MalformedDumpException if it is not a whole dump that agrees with itself
     */
    public static IndexDump read(InputStream in) throws IOException {
        return new DumpReader(DumpLimits.DEFAULTS).read(in);
    }

    /** As {@link #read(InputStream)}, under other limits. */
    public static IndexDump read(InputStream in, DumpLimits limits) throws IOException {
        return new DumpReader(limits).read(in);
    }
}

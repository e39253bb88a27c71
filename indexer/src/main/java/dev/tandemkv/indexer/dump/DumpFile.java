package dev.tandemkv.indexer.dump;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.indexer.event.IndexFeed;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToIntFunction;

/**
 * A dump in a file, for a warm restart. Thread-safe as far as the file system is; two savers at a time leave the one that ended last.
 */
public final class DumpFile {

    private final Path path;

    /** @param path where the dump lies; its directory must exist to save */
    public DumpFile(Path path) {
        this.path = Objects.requireNonNull(path, "path").toAbsolutePath();
    }

    /**
     * Writes a dump of every partition. The file holds the old dump or the new one, never a part: the new one is written beside it, forced to
     * the disk and then moved over it.
     *
     * @param blockSize the block size of each partition
     */
    public void save(Map<PartitionKey, IndexFeed> feeds, ToIntFunction<PartitionKey> blockSize) throws IOException {
        Path directory = Objects.requireNonNull(path.getParent(), "directory of the dump");
        Path fresh = Files.createTempFile(directory, path.getFileName() + ".", ".tmp");
        try {
            try (FileOutputStream file = new FileOutputStream(fresh.toFile());
                    BufferedOutputStream out = new BufferedOutputStream(file, 1 << 16)) {
                try (DumpWriter writer = DumpWriter.to(out)) {
                    for (Map.Entry<PartitionKey, IndexFeed> entry : feeds.entrySet()) {
                        writer.partition(entry.getKey(), blockSize.applyAsInt(entry.getKey()), entry.getValue());
                    }
                }
                out.flush();
                file.getFD().sync();
            }
            Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(fresh);
        }
    }

    /**
     * Reads the dump.
     *
     * @throws java.nio.file.NoSuchFileException if there is none
     * @throws MalformedDumpException if it is damaged
     */
    public IndexDump load() throws IOException {
        try (InputStream in = new BufferedInputStream(Files.newInputStream(path), 1 << 16)) {
            return IndexDump.read(in);
        }
    }
}

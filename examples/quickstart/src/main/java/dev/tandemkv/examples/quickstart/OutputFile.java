package dev.tandemkv.examples.quickstart;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Files that are there whole or not at all. */
final class OutputFile {

    private OutputFile() {}

    /** Fails before any work is done, rather than after, if a file cannot go where it should. */
    static void requireDirectory(Path file) throws IOException {
        Path directory = directoryOf(file);
        if (!Files.isDirectory(directory)) {
            throw new NoSuchFileException(directory + " (a directory to write " + file.getFileName() + " to)");
        }
        if (Files.isDirectory(file)) {
            throw new IOException(file + " is a directory (expected: a file)");
        }
    }

    /** Writes beside the file and puts it in place in one step. */
    static void write(Path file, String content) throws IOException {
        // Not a temporary file of the JVM's, which only its owner could read.
        Path beside = directoryOf(file).resolve(file.getFileName() + ".part");
        try {
            Files.writeString(beside, content);
            Files.move(beside, file, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(beside);
        }
    }

    private static Path directoryOf(Path file) {
        Path parent = file.toAbsolutePath().getParent();
        return parent == null ? file.toAbsolutePath() : parent;
    }
}

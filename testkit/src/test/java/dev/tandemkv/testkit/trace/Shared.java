package dev.tandemkv.testkit.trace;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/** The full traces, which lie beside the project and not in it. */
public final class Shared {

    private Shared() {}

    public static Trace conversation() {
        return read("mooncake_fast25_conversation_trace.jsonl.gz");
    }

    public static Trace synthetic() {
        return read("mooncake_fast25_synthetic_trace.jsonl.gz");
    }

    /** Reads a full trace, or skips the test where it is absent. */
    public static Trace read(String file) {
        Path path = Path.of(System.getProperty("tandemkv.shared", "../shared"), "traces", file);
        assumeThat(path).as("the full trace %s (set -Dtandemkv.shared)", file).exists();
        try {
            return TraceReader.read(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

package dev.tandemkv.adapters.http;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Where a dump in our own form comes from, with each rank's place in its engine's stream: whatever follows the engines can write it, the core
 * cannot. Thread-safe; may take its time.
 */
@FunctionalInterface
public interface CheckpointDump {

    void write(OutputStream out) throws IOException;
}

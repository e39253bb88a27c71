package dev.tandemkv.catalog.time;

/** A monotonic clock: nanoseconds since an arbitrary instant. Thread-safe; only differences mean anything. */
@FunctionalInterface
public interface Ticker {

    long read();

    /** The JVM's monotonic clock. */
    static Ticker system() {
        return SystemTicker.INSTANCE;
    }
}

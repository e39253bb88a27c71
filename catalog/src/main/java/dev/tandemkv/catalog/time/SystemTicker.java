package dev.tandemkv.catalog.time;

/** The only place that reads the JVM's clock. */
enum SystemTicker implements Ticker {
    INSTANCE;

    @Override
    public long read() {
        return System.nanoTime();
    }
}

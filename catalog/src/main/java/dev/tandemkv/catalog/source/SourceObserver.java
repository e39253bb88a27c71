package dev.tandemkv.catalog.source;

/** Told of what a source cannot read while it goes on with what it read last. Called on the thread that found out, outside every lock. */
@FunctionalInterface
public interface SourceObserver {

    /** Called once for each new problem, not again while it lasts. */
    void onProblem(SourceException problem);
}

package dev.tandemkv.examples.enginewatch;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.FeedObserver;
import java.time.Clock;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.List;

/** The latest things that happened to the streams, as text. Thread-safe: told by the ingress' thread, read by the screen's. */
final class Incidents implements FeedObserver {

    private static final int KEPT = 10;
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

    private final Clock clock;
    private final ArrayDeque<String> latest = new ArrayDeque<>();

    Incidents(Clock clock) {
        this.clock = clock;
    }

    /** Oldest first. */
    synchronized List<String> latest() {
        return List.copyOf(latest);
    }

    private synchronized void add(WorkerRank rank, String what) {
        if (latest.size() == KEPT) {
            latest.remove();
        }
        latest.add(LocalTime.now(clock).format(TIME) + "  rank " + Integer.toUnsignedString(rank.rank()) + "  " + what);
    }

    @Override
    public void onExactness(WorkerRank rank, Exactness exactness) {
        add(rank, "now " + Names.of(exactness));
    }

    @Override
    public void onGap(WorkerRank rank, long expected, long got) {
        add(
                rank,
                "gap: batch " + Long.toUnsignedString(got) + " came where " + Long.toUnsignedString(expected)
                        + " was due");
    }

    @Override
    public void onReplayRequested(WorkerRank rank, long from, int round) {
        add(
                rank,
                "asks for a replay from batch " + Long.toUnsignedString(from)
                        + (round > 1 ? " (round " + round + ')' : ""));
    }

    @Override
    public void onRecoveryFailed(WorkerRank rank, String cause) {
        add(rank, "replay failed: " + cause);
    }

    @Override
    public void onRestart(WorkerRank rank, long firstSequence) {
        add(rank, "restart: the numbers begin again, so the cache is a new one");
    }

    @Override
    public void onDropped(WorkerRank rank, long sequence) {
        add(rank, "batch " + Long.toUnsignedString(sequence) + " dropped: too many were waiting");
    }
}

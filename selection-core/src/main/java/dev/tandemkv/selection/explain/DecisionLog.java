package dev.tandemkv.selection.explain;

import dev.tandemkv.catalog.BadRequestException;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A sampled log of decisions as JSON Lines.
 *
 * <p>Taking a decision in never blocks and never fails: what does not fit is dropped and counted. The text is made and written by {@link
 * #drain}, which the host calls when and where it likes, for instance from its scheduler. Any number of threads may {@link #sample} and
 * {@link #offer}; one at a time may drain.
 *
 * <p>A line holds hashes of the prompt, never tokens, and nothing of the session.
 */
public final class DecisionLog {

    /** Where lines go. */
    @FunctionalInterface
    public interface Sink {

        /** Takes one line, without its end. */
        void write(String line) throws IOException;
    }

    /**
     * How much is logged.
     *
     * @param every one decision of so many is logged; at least 1; default 1
     * @param capacity decisions kept until they are written; at least 2; default 1,024
     * @param maxHashes block hashes of one line; at least 0; default 2,048
     */
    public record Limits(int every, int capacity, int maxHashes) {

        public static final Limits DEFAULT = new Limits(1, 1024, 2048);

        /** @throws BadRequestException naming the field */
        public Limits {
            requireAtLeast("decision_log.every", every, 1);
            requireAtLeast("decision_log.capacity", capacity, 2);
            requireAtLeast("decision_log.max_hashes", maxHashes, 0);
        }

        private static void requireAtLeast(String field, int value, int minimum) {
            if (value < minimum) {
                throw new BadRequestException(field, value, ">= " + minimum);
            }
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(DecisionLog.class);

    private final Sink sink;
    private final int every;
    private final DecisionLines lines;
    private final MessagePassingQueue<DecisionRecord> waiting;
    private final AtomicLong seen = new AtomicLong();
    private final AtomicLong written = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();

    public DecisionLog(Sink sink, Limits limits) {
        this.sink = Objects.requireNonNull(sink, "sink");
        every = limits.every();
        lines = new DecisionLines(limits.maxHashes());
        waiting = new MpscAtomicArrayQueue<>(limits.capacity());
    }

    /** Counts a decision and tells whether it is one to log, so that the others need no explanation. */
    public boolean sample() {
        return seen.getAndIncrement() % every == 0;
    }

    /** Takes a decision in, or drops and counts it if too many wait. */
    public void offer(DecisionRecord decision) {
        if (!waiting.offer(Objects.requireNonNull(decision, "decision"))) {
            dropped.incrementAndGet();
        }
    }

    /**
     * Writes what waits, at most as many lines as the log has room for. A line that the sink refuses is lost and counted.
     *
     * @return lines written
     */
    public int drain() {
        int lineCount = 0;
        for (int left = waiting.capacity(); left > 0; left--) {
            DecisionRecord decision = waiting.poll();
            if (decision == null) {
                break;
            }
            lineCount += write(decision) ? 1 : 0;
        }
        return lineCount;
    }

    private boolean write(DecisionRecord decision) {
        try {
            sink.write(lines.line(decision));
            written.incrementAndGet();
            return true;
        } catch (IOException | RuntimeException e) {
            if (failed.getAndIncrement() == 0) {
                LOG.warn("decision log: a line could not be written; further failures are only counted", e);
            }
            return false;
        }
    }

    /** Lines written so far. */
    public long written() {
        return written.get();
    }

    /** Decisions dropped because too many waited. */
    public long dropped() {
        return dropped.get();
    }

    /** Lines that the sink refused. */
    public long failed() {
        return failed.get();
    }
}

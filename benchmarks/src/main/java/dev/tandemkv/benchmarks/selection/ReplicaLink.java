package dev.tandemkv.benchmarks.selection;

import dev.tandemkv.catalog.time.Scheduler;
import dev.tandemkv.selection.host.ReplicaChannel;

/** One replica's channel and what it runs on. */
interface ReplicaLink extends AutoCloseable {

    ReplicaChannel channel();

    Scheduler scheduler();

    /** Times that another began to listen to a topic here. */
    long heardBy();

    /** What went out so far. */
    Sent sent();

    @Override
    void close();

    /**
     * Figures of a channel.
     *
     * @param bytes of the messages as the channel counts them, without what the protocols below add
     */
    record Sent(long messages, long bytes, long dropped) {

        Sent minus(Sent earlier) {
            return new Sent(messages - earlier.messages, bytes - earlier.bytes, dropped - earlier.dropped);
        }
    }

    /** Two that hear each other once both have subscribed. */
    record Pair(ReplicaLink first, ReplicaLink second) {}
}

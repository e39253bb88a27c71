package dev.tandemkv.benchmarks.scaling;

import java.util.List;
import java.util.function.ToDoubleFunction;

/** The models of one run, each with its formula. */
final class Models {

    private final Measured measured;

    Models(Measured measured) {
        this.measured = measured;
    }

    /** Bytes per distinct block: a constant, and what a record of holders adds, a bit per rank for each shared run. */
    Model bytesPerBlock(int blockTokens) {
        return byRanks(blockTokens, p -> (double) p.accountedBytes() / p.distinctBlocks());
    }

    /** Nanoseconds of a lookup: a constant, and the words and scores of all ranks. */
    Model find(int blockTokens, ToDoubleFunction<IndexPoint> figure) {
        return byRanks(blockTokens, figure);
    }

    private Model byRanks(int blockTokens, ToDoubleFunction<IndexPoint> figure) {
        return Model.fitted(whole(blockTokens).stream()
                .map(p -> new Model.Point(1, p.ranks(), figure.applyAsDouble(p)))
                .toList());
    }

    /** Nanoseconds per block of a change: a constant, and cache misses that grow with the logarithm of what is held. */
    Model change(int blockTokens, ToDoubleFunction<IndexPoint> figure) {
        return Model.fitted(whole(blockTokens).stream()
                .map(p -> new Model.Point(1, Math.log((double) p.distinctBlocks()), figure.applyAsDouble(p)))
                .toList());
    }

    /** Nanoseconds of a decision: a constant, and a cost per worker. */
    Model decision(int blockTokens) {
        return Model.fitted(measured.selection(blockTokens).stream()
                .map(p -> new Model.Point(1, p.workers(), p.bookAndFree().p50Nanos()))
                .toList());
    }

    /** Nanoseconds of CPU per engine message: a constant, and the thread's turns, which the messages of more ranks share. */
    Model intake(int blockTokens) {
        return Model.fitted(measured.intake(blockTokens).stream()
                .map(p -> new Model.Point(1, 1.0 / p.ranks(), p.socketThreadNanos()))
                .toList());
    }

    /** Bytes per booking and peer: a constant, and the prompt's hashes. */
    Model bookingBytes() {
        return Model.fitted(measured.replicas(true).stream()
                .map(p -> new Model.Point(1, p.blocks(), p.bytes()))
                .toList());
    }

    /** Nanoseconds of a peer's CPU per booking it is told of. */
    Model bookingReceived() {
        return Model.fitted(measured.replicas(true).stream()
                .map(p -> new Model.Point(1, p.blocks(), p.receiverNanos()))
                .toList());
    }

    /** Nanoseconds of the sender's CPU per message, by peers. */
    Model fanOut() {
        return Model.fitted(measured.fanOut().stream()
                .map(p -> new Model.Point(1, p.peers(), p.senderNanos()))
                .toList());
    }

    /** Indexes in one piece. */
    private List<IndexPoint> whole(int blockTokens) {
        return measured.index(blockTokens).stream().filter(p -> p.shards() == 1).toList();
    }
}

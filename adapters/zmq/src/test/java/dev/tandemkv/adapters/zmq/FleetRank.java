package dev.tandemkv.adapters.zmq;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.catalog.time.SeededRandom;
import dev.tandemkv.testkit.engine.wire.EngineHash;
import dev.tandemkv.testkit.engine.wire.EngineTokens;
import dev.tandemkv.testkit.engine.wire.FakeRank;
import dev.tandemkv.testkit.engine.wire.FaultyLine.Fault;
import dev.tandemkv.testkit.engine.wire.PublisherConfig;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import org.zeromq.ZMQException;

/**
 * One engine of a fleet, with a cache that grows to a size and then turns over: chains of blocks, stored part by part and dropped leaf first.
 * Touched by the sockets' thread, but for what is said otherwise.
 */
final class FleetRank {

    static final int BLOCK_SIZE = 16;

    /** Blocks of one store. */
    static final int PART = 32;

    private static final int PARTS_OF_A_CHAIN = 4;
    private static final String ANY = "tcp://127.0.0.1:*";

    private final EngineSockets sockets;
    private final int id;
    private final boolean replays;
    private final int sendHighWater;
    private final RandomGenerator random;
    private final FakeRank rank;
    private final ArrayDeque<long[]> parts = new ArrayDeque<>();
    private EngineSockets.Publisher publisher;
    private double clock;
    private long made;
    private int partsOfThisChain;
    private int held;
    private int lost;

    FleetRank(EngineSockets sockets, int id, boolean replays, int sendHighWater) {
        this.sockets = sockets;
        this.id = id;
        this.replays = replays;
        this.sendHighWater = sendHighWater;
        random = new SeededRandom(id);
        rank = new FakeRank(
                PublisherConfig.of(WireDialect.SGLANG_0_5_22, 0), random, frames -> this.publisher.publish(frames));
        publisher = sockets.bind(ANY, replays ? ANY : null, rank::answer, sendHighWater);
    }

    // ---- any thread

    WorkerRank name() {
        return WorkerRank.of(id);
    }

    boolean replays() {
        return replays;
    }

    /** Whether it drops what a slow subscriber does not take. */
    boolean isImpatient() {
        return sendHighWater > 0;
    }

    boolean isHeard() {
        return publisher.isHeard();
    }

    WorkerSpec spec() {
        WorkerSpec.Builder spec = WorkerSpec.builder(id).blockSize(BLOCK_SIZE).kvEventsEndpoint(publisher.endpoint());
        return replays ? spec.replayEndpoint(publisher.replayEndpoint()).build() : spec.build();
    }

    /** The process ends and another one takes its place. */
    void replaceProcess() {
        EngineSockets.Publisher before = publisher;
        before.close();
        sockets.call(this::startAnew);
        Eventually.await(() -> {
            try {
                publisher = sockets.bind(before.endpoint(), before.replayEndpoint(), rank::answer, sendHighWater);
                return true;
            } catch (ZMQException e) {
                return false;
            }
        });
    }

    Set<Long> truth() {
        return sockets.call(rank::held);
    }

    // ---- the sockets' thread

    boolean startAnew() {
        rank.restart();
        parts.clear();
        held = 0;
        partsOfThisChain = 0;
        return true;
    }

    boolean clear() {
        rank.clear();
        parts.clear();
        held = 0;
        partsOfThisChain = 0;
        return rank.publish(clock++);
    }

    /** One batch: a part is stored, and the oldest are dropped while there are too many. */
    int step(int target) {
        long[] above = parts.peekLast();
        boolean goesOn = above != null && partsOfThisChain > 0 && partsOfThisChain < PARTS_OF_A_CHAIN;
        partsOfThisChain = goesOn ? partsOfThisChain + 1 : 1;
        long[] part =
                LongStream.range(0, PART).map(i -> (long) id << 40 | ++made).toArray();
        rank.storeOnDevice(
                goesOn ? EngineHash.signed(above[PART - 1]) : null,
                Arrays.stream(part).mapToObj(EngineHash::signed).toList(),
                tokens(part),
                BLOCK_SIZE);
        parts.add(part);
        held += PART;
        while (held > target + PART * PARTS_OF_A_CHAIN) {
            long[] oldest = parts.remove();
            rank.removeFromDevice(
                    Arrays.stream(oldest).mapToObj(EngineHash::signed).toList());
            held -= PART;
        }
        rank.publish(clock++);
        return held;
    }

    private static EngineTokens tokens(long[] part) {
        int[] ids = new int[part.length * BLOCK_SIZE];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = (int) (part[i / BLOCK_SIZE] * 31 + i % BLOCK_SIZE) & 0xffff;
        }
        return EngineTokens.of(ids);
    }

    /** Something happens to the next message, once in a while. */
    void maybe(Fault fault, double probability) {
        if (random.nextDouble() < probability) {
            rank.inject(fault, 1);
            lost += fault == Fault.DROP || fault == Fault.GARBAGE ? 1 : 0;
        }
    }

    /** Live messages that did not arrive as they were. */
    int lost() {
        return lost;
    }

    long lastSequence() {
        return rank.nextSequence() - 1;
    }
}

package dev.tandemkv.testkit.engine.wire;

import dev.tandemkv.testkit.engine.wire.FaultyLine.Fault;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One data-parallel rank of a fake engine: a cache that announces what it stores and drops, a publisher with its replay buffer, and a line
 * with faults. It knows what it really holds, so that an index that follows it can be compared with the truth.
 *
 * <p>Changes are collected and go out together with {@link #publish}, as an engine sends one batch a step. It has no sockets: live messages
 * go to the consumer given, requests for a replay come in through {@link #answer}.
 *
 * <p>Not thread-safe: whoever owns the sockets calls everything on their thread. Deterministic for a seed.
 */
public final class FakeRank {

    /** Where blocks lie whose event names no medium. */
    public static final String DEVICE = "GPU";

    private final EnginePublisher publisher;
    private final FaultyLine line;
    private final Consumer<List<byte[]>> subscribers;
    private final List<EngineEvent> unpublished = new ArrayList<>();
    /** Number of physical copies, by medium and hash. Only what is held is in it. */
    private final Map<String, Map<Long, Integer>> copies = new HashMap<>();

    private final ArrayDeque<Runnable> stalledWork = new ArrayDeque<>();
    private boolean stalled;

    /**
     * Creates a rank with an empty cache.
     *
     * @param random what garbage looks like
     * @param subscribers receives the frames of live messages
     */
    public FakeRank(PublisherConfig config, RandomGenerator random, Consumer<List<byte[]>> subscribers) {
        this.publisher = new EnginePublisher(config);
        this.line = new FaultyLine(random);
        this.subscribers = Objects.requireNonNull(subscribers, "subscribers");
    }

    public PublisherConfig config() {
        return publisher.config();
    }

    // ---- the cache

    /** Caches blocks: one more physical copy of each. */
    public void store(EngineEvent.Stored event) {
        Map<Long, Integer> held = on(event.fields());
        event.hashes().forEach(hash -> held.merge(hash.value(), 1, Integer::sum));
        unpublished.add(event);
    }

    /** As {@link #store}, said as the release says it of its main cache on the device. */
    public void storeOnDevice(
            @Nullable EngineHash parent, List<EngineHash> hashes, EngineTokens tokens, long blockSize) {
        store(new EngineEvent.Stored(
                hashes, parent, tokens, blockSize, ofMainCache(FieldLayout.ofStores(config().dialect()))));
    }

    /** As {@link #remove}, said as the release says it of its main cache on the device. */
    public void removeFromDevice(List<EngineHash> hashes) {
        remove(new EngineEvent.Removed(hashes, ofMainCache(FieldLayout.ofRemovals(config().dialect()))));
    }

    private static Map<EventField, Object> ofMainCache(FieldLayout layout) {
        Map<EventField, Object> fields = new EnumMap<>(EventField.class);
        fields.put(EventField.MEDIUM, DEVICE);
        fields.put(EventField.GROUP_IDX, 0);
        fields.put(EventField.SPEC_KIND, "full_attention");
        fields.keySet().removeIf(field -> !layout.knows(field));
        return fields;
    }

    /** Announces blocks that it holds once more, without another copy, as vLLM's full reports do. */
    public void reportAgain(EngineEvent.Stored event) {
        unpublished.add(event);
    }

    /** Drops one physical copy of each block; one that is not held is announced all the same. */
    public void remove(EngineEvent.Removed event) {
        Map<Long, Integer> held = on(event.fields());
        event.hashes().forEach(hash -> held.computeIfPresent(hash.value(), (h, n) -> n == 1 ? null : n - 1));
        unpublished.add(event);
    }

    /** Empties the cache, on every medium. */
    public void clear() {
        copies.clear();
        unpublished.add(new EngineEvent.Cleared());
    }

    private Map<Long, Integer> on(Map<EventField, Object> fields) {
        String medium = (String) fields.getOrDefault(EventField.MEDIUM, DEVICE);
        return copies.computeIfAbsent(medium, m -> new HashMap<>());
    }

    // ---- the truth

    /** Hashes of the blocks that it holds on the device. */
    public Set<Long> held() {
        return held(DEVICE);
    }

    /** Hashes of the blocks that it holds on a medium. */
    public Set<Long> held(String medium) {
        return Set.copyOf(copies.getOrDefault(medium, Map.of()).keySet());
    }

    /** Leading blocks of a chain that it holds on the device. */
    public int heldPrefix(long[] chain) {
        Map<Long, Integer> held = copies.getOrDefault(DEVICE, Map.of());
        int blocks = 0;
        while (blocks < chain.length && held.containsKey(chain[blocks])) {
            blocks++;
        }
        return blocks;
    }

    /** Unsigned number of the next batch. */
    public long nextSequence() {
        return publisher.nextSequence();
    }

    // ---- the wire

    /**
     * Sends what changed since the last time as one batch; nothing if nothing did.
     *
     * @param timestamp seconds since the epoch
     * @return whether there was something to send
     */
    public boolean publish(double timestamp) {
        if (unpublished.isEmpty()) {
            return false;
        }
        List<EngineEvent> events = List.copyOf(unpublished);
        unpublished.clear();
        whenRunning(() -> line.send(publisher.publish(timestamp, events)).forEach(subscribers));
        return true;
    }

    /**
     * Answers a replay request; later, if the publisher is stalled.
     *
     * @param request as {@link EnginePublisher#answer} takes it
     * @param reply receives the frames of each reply
     */
    public void answer(List<byte[]> request, Consumer<List<byte[]>> reply) {
        whenRunning(() -> publisher.answer(request).forEach(reply));
    }

    private void whenRunning(Runnable work) {
        if (stalled) {
            stalledWork.add(work);
        } else {
            work.run();
        }
    }

    // ---- faults

    /** Lets a fault happen to the next live messages; see {@link FaultyLine}. */
    public void inject(Fault fault, int messages) {
        line.inject(fault, messages);
    }

    /** Drops what changed since the last batch and uses up its number: no replay can bring it back. */
    public void loseForGood() {
        unpublished.clear();
        whenRunning(publisher::skip);
    }

    /** Stops sending and answering; the cache goes on. Both are one thread in an engine's publisher. */
    public void stall() {
        stalled = true;
    }

    public boolean isStalled() {
        return stalled;
    }

    /** Goes on, with what has waited first. */
    public void resume() {
        stalled = false;
        while (!stalledWork.isEmpty() && !stalled) {
            stalledWork.remove().run();
        }
    }

    /** A new process: empty cache, nothing to replay, numbers from the first; what was under way or waiting is gone. */
    public void restart() {
        publisher.restart();
        line.reset();
        unpublished.clear();
        copies.clear();
        stalledWork.clear();
        stalled = false;
    }
}

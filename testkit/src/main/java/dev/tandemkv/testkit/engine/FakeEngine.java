package dev.tandemkv.testkit.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * One engine worker in virtual time. It works in iterations: each decoding request gains a token, and what is left of the token budget
 * goes to prompts in order of arrival, a long one in chunks. A request is admitted when the budget reaches it and its blocks fit beside
 * those in use; behind one that does not fit, the others wait.
 *
 * <p>What happens at the end of one iteration has an order, since a request that ends lets go of its blocks and so decides what is evicted
 * first: decoding requests in order of arrival, then prompts in order of arrival. At its start, requests whose prompt was computed elsewhere
 * are admitted before the others. At an instant at which an iteration ends and a request arrives, the driver decides which is first; the
 * simulator ends the iteration, so that the request misses the one that starts there.
 *
 * <p>The driver submits requests, calls {@link #start} when it has submitted all of an instant, and {@link #endIteration} at the tick that
 * {@link #iterationEnd} names. Blocks can be matched from
 * the end of the iteration that computes them. Decoding costs constant time an iteration, however many requests decode: they wait in a
 * heap for the iteration in which something happens to them.
 *
 * <p>Not thread-safe; deterministic.
 */
public final class FakeEngine {

    /** {@link #iterationEnd} of an engine with nothing to do. */
    public static final long IDLE = Long.MAX_VALUE;

    private final EngineModel model;
    private final EngineListener listener;
    private final BlockCache cache;

    private final ArrayDeque<Sequence> waiting = new ArrayDeque<>();
    private final ArrayDeque<Sequence> transferred = new ArrayDeque<>();
    private final List<Sequence> prefilling = new ArrayList<>();
    private final PriorityQueue<Sequence> decoding = new PriorityQueue<>(
            Comparator.comparingLong((Sequence s) -> s.wakeIteration).thenComparingLong(s -> s.arrival));

    private long arrivals;
    private long iteration;
    private long iterationEnd = IDLE;
    private long contextTokens;
    private long busyNanos;

    /**
     * Creates an idle engine with an empty cache.
     *
     * @param cacheBlocks capacity of its cache; at least 1
     */
    public FakeEngine(EngineModel model, int cacheBlocks, EngineListener listener) {
        this.model = model;
        this.listener = listener;
        this.cache = new BlockCache(cacheBlocks, listener::evicted);
    }

    /**
     * Takes a request, which waits for the next iteration.
     *
     * @return false, with nothing taken, if the request is larger than the cache and could never be admitted
     */
    public boolean submit(EngineRequest request) {
        Sequence sequence = new Sequence(request, arrivals++, model);
        if (request.blocks().length + sequence.outputBlocks > cache.capacity()) {
            return false;
        }
        (request.work() == EngineRequest.Work.DECODE_ONLY ? transferred : waiting).add(sequence);
        return true;
    }

    /** Starts an iteration if none is running and there is work. Requests of one instant share it if all were submitted before. */
    public void start(long nowNanos) {
        if (iterationEnd == IDLE) {
            startIteration(nowNanos);
        }
    }

    /** When the running iteration ends, or {@link #IDLE}. */
    public long iterationEnd() {
        return iterationEnd;
    }

    /** Ends the running iteration, at the tick it was to end, and starts the next one if there is work. */
    public void endIteration() {
        long now = iterationEnd;
        iteration++;
        contextTokens += decoding.size();
        wakeDecoding();
        advancePrefills();
        startIteration(now);
    }

    /** Leading tokens of a prompt that the cache holds. */
    public int heldTokens(int[] blocks, int inputTokens) {
        return (int) Math.min((long) cache.matched(blocks) * model.blockTokens(), inputTokens);
    }

    /** Requests in the engine: waiting, prefilling or decoding. */
    public int requests() {
        return waiting.size() + transferred.size() + running();
    }

    /** Time spent in iterations so far, those under way counted to their end. */
    public long busyNanos() {
        return busyNanos;
    }

    private int running() {
        return prefilling.size() + decoding.size();
    }

    private void startIteration(long now) {
        admitTransferred();
        int budget = model.tokenBudget() - decoding.size();
        long tokens = 0;
        double attention = 0;
        for (int i = 0; budget > 0; i++) {
            if (i == prefilling.size() && !admitNext()) {
                break;
            }
            Sequence sequence = prefilling.get(i);
            int chunk = Math.min(budget, sequence.inputTokens() - sequence.computed);
            attention += EngineModel.IterationCost.attentionWork(chunk, sequence.computed);
            sequence.chunk = chunk;
            tokens += chunk;
            budget -= chunk;
        }
        if (tokens == 0 && decoding.isEmpty()) {
            iterationEnd = IDLE;
            return;
        }
        long duration = model.cost().nanos(tokens, attention, decoding.size(), contextTokens);
        busyNanos += duration;
        iterationEnd = now + duration;
    }

    private void admitTransferred() {
        while (!transferred.isEmpty() && running() < model.maxSequences()) {
            Sequence sequence = transferred.peek();
            int held = heldTokens(sequence.request.blocks(), sequence.inputTokens());
            if (!cache.tryPin(sequence.request.blocks(), sequence.outputBlocks)) {
                return;
            }
            transferred.remove();
            listener.admitted(sequence.request, held);
            sequence.computed = held;
            computeTo(sequence, sequence.inputTokens());
            if (sequence.tokensLeft == 0) {
                finish(sequence);
            } else {
                // The first token came with the transfer.
                startDecoding(sequence);
            }
        }
    }

    private boolean admitNext() {
        Sequence sequence = waiting.peek();
        if (sequence == null || running() == model.maxSequences()) {
            return false;
        }
        int[] blocks = sequence.request.blocks();
        // One token is left to compute even of a prompt that is wholly cached: it yields the first output token.
        int cached = Math.min(heldTokens(blocks, sequence.inputTokens()), sequence.inputTokens() - 1);
        if (!cache.tryPin(blocks, sequence.outputBlocks)) {
            return false;
        }
        waiting.remove();
        sequence.computed = cached;
        prefilling.add(sequence);
        listener.admitted(sequence.request, cached);
        return true;
    }

    private void advancePrefills() {
        int kept = 0;
        for (Sequence sequence : prefilling) {
            computeTo(sequence, sequence.computed + sequence.chunk);
            sequence.chunk = 0;
            if (sequence.computed < sequence.inputTokens()) {
                prefilling.set(kept++, sequence);
                continue;
            }
            listener.firstToken(sequence.request);
            sequence.tokensLeft--;
            if (sequence.tokensLeft == 0) {
                finish(sequence);
            } else {
                startDecoding(sequence);
            }
        }
        prefilling.subList(kept, prefilling.size()).clear();
    }

    /** Fills the blocks that lie between what was computed and {@code tokens}, and tells of the full ones. */
    private void computeTo(Sequence sequence, int tokens) {
        int[] blocks = sequence.request.blocks();
        int blockTokens = model.blockTokens();
        int full = Math.min(tokens / blockTokens, blocks.length);
        int from = Math.min(sequence.computed / blockTokens, full);
        while (from < full && !cache.fill(blocks[from])) {
            from++;
        }
        for (int i = from + 1; i < full; i++) {
            cache.fill(blocks[i]);
        }
        if (from < full) {
            listener.stored(sequence.request, from, full);
        }
        if (tokens == sequence.inputTokens()) {
            for (int i = full; i < blocks.length; i++) {
                cache.fill(blocks[i]);
            }
        }
        sequence.computed = tokens;
    }

    private void startDecoding(Sequence sequence) {
        // One token is generated and not yet in the cache: it is the next iteration's input.
        sequence.context = sequence.inputTokens() + 1;
        contextTokens += sequence.context;
        scheduleWake(sequence);
    }

    /** Sleeps until the request ends, or fills a block and needs another. */
    private void scheduleWake(Sequence sequence) {
        int toBoundary = model.blockTokens() - sequence.context % model.blockTokens();
        int sleep = Math.min(sequence.tokensLeft, toBoundary);
        sequence.context += sleep;
        sequence.tokensLeft -= sleep;
        sequence.wakeIteration = iteration + sleep;
        decoding.add(sequence);
    }

    private void wakeDecoding() {
        while (!decoding.isEmpty() && decoding.peek().wakeIteration <= iteration) {
            Sequence sequence = decoding.remove();
            if (sequence.tokensLeft == 0) {
                contextTokens -= sequence.context;
                finish(sequence);
            } else {
                listener.grewByBlock(sequence.request);
                scheduleWake(sequence);
            }
        }
    }

    private void finish(Sequence sequence) {
        cache.unpin(sequence.request.blocks(), sequence.outputBlocks);
        listener.finished(sequence.request);
    }

    /** A request inside the engine. */
    private static final class Sequence {
        private final EngineRequest request;
        private final long arrival;
        private final int outputBlocks;
        /** Prompt tokens in the cache. */
        private int computed;
        /** Prompt tokens that the running iteration adds. */
        private int chunk;
        /** Output tokens to come; for a decoding request, after its next wake. */
        private int tokensLeft;
        /** Prompt and output tokens; for a decoding request, at its next wake. */
        private int context;

        private long wakeIteration;

        Sequence(EngineRequest request, long arrival, EngineModel model) {
            this.request = request;
            this.arrival = arrival;
            this.tokensLeft = request.tokensHere();
            this.outputBlocks = model.blocksFor(tokensLeft);
        }

        int inputTokens() {
            return request.inputTokens();
        }
    }
}

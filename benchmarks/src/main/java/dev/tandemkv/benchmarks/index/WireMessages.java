package dev.tandemkv.benchmarks.index;

import dev.tandemkv.testkit.engine.wire.EngineEvent;
import dev.tandemkv.testkit.engine.wire.EngineHash;
import dev.tandemkv.testkit.engine.wire.EnginePublisher;
import dev.tandemkv.testkit.engine.wire.EngineTokens;
import dev.tandemkv.testkit.engine.wire.PublisherConfig;
import dev.tandemkv.testkit.engine.wire.WireDialect;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** What an engine publishes, as bytes made beforehand. */
public final class WireMessages {

    private final int blockTokens;
    private final int blocks;
    private final EnginePublisher publisher = new EnginePublisher(PublisherConfig.of(WireDialect.SGLANG_0_5_22, 0));

    /**
     * @param blockTokens tokens per block
     * @param blocks stored by each message
     */
    public WireMessages(int blockTokens, int blocks) {
        this.blockTokens = blockTokens;
        this.blocks = blocks;
    }

    /** One chain in parts. */
    public List<List<byte[]>> chain(int count) {
        List<List<byte[]>> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            messages.add(publisher.publish(i, List.of(stored(i, i > 0))));
        }
        return messages;
    }

    /** Each stores a sequence of its own. */
    List<List<byte[]>> roots(int count) {
        List<List<byte[]>> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            messages.add(publisher.publish(i, List.of(stored(i, false))));
        }
        return messages;
    }

    /** Each stores a sequence of its own and, from the fifth on, removes the one before the last four: a full cache at work. */
    public List<List<byte[]>> turnover(int count) {
        List<List<byte[]>> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            List<EngineEvent> events = new ArrayList<>(2);
            if (i >= 4) {
                long[] old = hashes(i - 4);
                List<EngineHash> deepestFirst = new ArrayList<>();
                for (int b = old.length - 1; b >= 0; b--) {
                    deepestFirst.add(EngineHash.signed(old[b]));
                }
                events.add(EngineEvent.Removed.of(deepestFirst));
            }
            events.add(stored(i, false));
            messages.add(publisher.publish(i, events));
        }
        return messages;
    }

    private EngineEvent.Stored stored(int message, boolean continues) {
        long[] hashes = hashes(message);
        @Nullable EngineHash parent = continues ? EngineHash.signed(hashes[0] - 1) : null;
        return EngineEvent.Stored.of(
                parent,
                Arrays.stream(hashes).mapToObj(EngineHash::signed).toList(),
                EngineTokens.of(Arrays.stream(hashes)
                        .mapToObj(this::tokens)
                        .flatMapToInt(Arrays::stream)
                        .toArray()),
                blockTokens);
    }

    private long[] hashes(int message) {
        long first = (long) message * blocks + 1;
        return LongStream.range(first, first + blocks).toArray();
    }

    /** Of the block with an engine hash. */
    int[] tokens(long hash) {
        int[] tokens = new int[blockTokens];
        for (int i = 0; i < blockTokens; i++) {
            tokens[i] = (int) (hash * 31 + i) & 0x1ffff;
        }
        return tokens;
    }
}

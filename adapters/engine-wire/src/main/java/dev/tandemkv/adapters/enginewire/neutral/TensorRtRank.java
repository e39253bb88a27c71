package dev.tandemkv.adapters.enginewire.neutral;

import dev.tandemkv.adapters.enginewire.TensorRtEvent;
import dev.tandemkv.adapters.enginewire.TensorRtEvent.Block;
import dev.tandemkv.adapters.enginewire.WireHashes;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.indexer.hash.HashScope;
import dev.tandemkv.indexer.hash.MultimodalObjects;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one rank of a TensorRT-LLM engine has said so far. Not thread-safe: one thread at a time.
 *
 * <p>The engine keeps one cache per attention window and announces all of them; the widest holds whole prefixes, and it is learned from the
 * <em>created</em> events, which come first. A removal names no level, so blocks announced in host memory are remembered until they go.
 */
final class TensorRtRank {

    /** Beyond this, the oldest hash is forgotten: its later removal then finds an unknown block. */
    private static final int MAX_REMEMBERED = 1 << 18;

    private final WorkerRank rank;
    private final BlockHasher hasher;
    private final NormalizerCounters counters;
    private final RecentHashes partial = new RecentHashes(MAX_REMEMBERED);
    private final RecentHashes onHost = new RecentHashes(MAX_REMEMBERED);
    private @Nullable Long widest;
    private boolean creating = true;

    TensorRtRank(WorkerRank rank, BlockHasher hasher, NormalizerCounters counters) {
        this.rank = rank;
        this.hasher = hasher;
        this.counters = counters;
    }

    NeutralBatch normalize(TensorRtEvent event) {
        List<KvEvent> out = new ArrayList<>();
        if (event.data() instanceof TensorRtEvent.Created) {
            learn(event.windowSize());
            counters.drop(DropReason.IGNORED_EVENT);
        } else {
            creating = false;
            if (event.windowSize() != null
                    && widest != null
                    && !event.windowSize().equals(widest)) {
                counters.drop(DropReason.OTHER_WINDOW);
            } else if (event.data() instanceof TensorRtEvent.Stored stored) {
                stored(stored, out);
            } else if (event.data() instanceof TensorRtEvent.Removed removed) {
                removed(removed.blockHashes(), out);
            } else {
                counters.drop(
                        event.data() instanceof TensorRtEvent.Unknown
                                ? DropReason.UNKNOWN_TAG
                                : DropReason.IGNORED_EVENT);
            }
        }
        counters.batch(out.size());
        return new NeutralBatch(rank, Double.NaN, out);
    }

    private void learn(@Nullable Long window) {
        if (creating && window != null) {
            widest = widest == null ? window : Long.valueOf(Math.max(widest, window));
        }
    }

    private void stored(TensorRtEvent.Stored event, List<KvEvent> out) {
        if (event.blocks().stream().anyMatch(block -> block.tokens().size() > hasher.blockSize())) {
            counters.drop(DropReason.CONFLICTING_BLOCK_SIZE);
            return;
        }
        if (hasDuplicate(event)) {
            counters.drop(DropReason.DUPLICATE_HASH);
            return;
        }
        List<Block> whole = wholeBlocks(event.blocks());
        Long parent = event.parent();
        for (int from = 0, to; from < whole.size(); from = to) {
            Tier tier = tier(whole.get(from));
            to = from + 1;
            while (to < whole.size() && tier(whole.get(to)) == tier) {
                to++;
            }
            if (tier == null) {
                counters.drop(DropReason.UNKNOWN_MEDIUM);
                return;
            }
            out.add(run(tier, parent, whole.subList(from, to)));
            parent = whole.get(to - 1).blockHash();
        }
    }

    private static boolean hasDuplicate(TensorRtEvent.Stored event) {
        long hashes =
                event.blocks().stream().mapToLong(Block::blockHash).distinct().count();
        return hashes < event.blocks().size()
                || event.blocks().stream()
                        .anyMatch(block -> event.parent() != null && block.blockHash() == event.parent());
    }

    /** The blocks before the first that is not full; that one is remembered, so that its removal can be swallowed. */
    private List<Block> wholeBlocks(List<Block> blocks) {
        for (int i = 0; i < blocks.size(); i++) {
            if (blocks.get(i).tokens().size() < hasher.blockSize()) {
                partial.add(blocks.get(i).blockHash());
                return blocks.subList(0, i);
            }
        }
        return blocks;
    }

    private static @Nullable Tier tier(Block block) {
        return switch (block.cacheLevel()) {
            case 0 -> Tier.DEVICE;
            case 1 -> Tier.HOST_PINNED;
            default -> null;
        };
    }

    /** Blocks of one tier, one after the other. */
    private KvEvent.Stored run(Tier tier, @Nullable Long parent, List<Block> blocks) {
        int size = hasher.blockSize();
        int[] tokens = new int[blocks.size() * size];
        long[] hashes = new long[blocks.size()];
        List<long @Nullable []> objects = new ArrayList<>();
        for (int i = 0; i < blocks.size(); i++) {
            Block block = blocks.get(i);
            hashes[i] = block.blockHash();
            for (int k = 0; k < size; k++) {
                tokens[i * size + k] = block.tokens().first(k);
            }
            objects.add(objects(block));
            if (tier == Tier.HOST_PINNED) {
                onHost.add(block.blockHash());
            }
        }
        long[] locals = new long[blocks.size()];
        hasher.locals(tokens, tokens.length, HashScope.BASE, MultimodalObjects.perBlock(objects), locals);
        return KvEvent.Stored.in(tier, parent, hashes, locals);
    }

    /** Multimodal objects, and additional identities of tokens: a hash that ignored those would match other content. */
    private static long[] objects(Block block) {
        List<Long> objects = new ArrayList<>();
        for (String key : block.multimodalKeys()) {
            objects.add(objectHash(key));
        }
        if (block.tokenExtraIds().stream().anyMatch(id -> id != 0)) {
            ByteBuffer ids = ByteBuffer.allocate(
                            Long.BYTES * block.tokenExtraIds().size())
                    .order(ByteOrder.LITTLE_ENDIAN);
            block.tokenExtraIds().forEach(ids::putLong);
            objects.add(MultimodalObjects.contentHash(ids.array()));
        }
        return objects.stream().mapToLong(Long::longValue).toArray();
    }

    /** The first 16 hexadecimal digits of a key; another text as any identifier. */
    private static long objectHash(String key) {
        if (key.length() >= 16 && key.chars().limit(16).allMatch(c -> Character.digit(c, 16) >= 0 && c < 128)) {
            return Long.parseUnsignedLong(key, 0, 16, 16);
        }
        return MultimodalObjects.identifierHash(key).orElse(0);
    }

    private void removed(WireHashes hashes, List<KvEvent> out) {
        long[] device = new long[hashes.size()];
        long[] host = new long[hashes.size()];
        int onDevice = 0;
        int inHost = 0;
        for (int i = 0; i < hashes.size(); i++) {
            long hash = hashes.value(i);
            if (partial.remove(hash)) {
                continue;
            }
            if (onHost.remove(hash)) {
                host[inHost++] = hash;
            } else {
                device[onDevice++] = hash;
            }
        }
        if (onDevice > 0) {
            out.add(KvEvent.Removed.device(Arrays.copyOf(device, onDevice)));
        }
        if (inHost > 0) {
            out.add(KvEvent.Removed.in(Tier.HOST_PINNED, Arrays.copyOf(host, inHost)));
        }
    }

    /** Hashes in the order of arrival, up to a bound. */
    private static final class RecentHashes {
        private final int bound;
        private final LinkedHashSet<Long> hashes = new LinkedHashSet<>();

        RecentHashes(int bound) {
            this.bound = bound;
        }

        void add(long hash) {
            if (hashes.size() >= bound) {
                var oldest = hashes.iterator();
                oldest.next();
                oldest.remove();
            }
            hashes.add(hash);
        }

        boolean remove(long hash) {
            return hashes.remove(hash);
        }
    }
}

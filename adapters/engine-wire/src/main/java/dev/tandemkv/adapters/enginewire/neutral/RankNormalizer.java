package dev.tandemkv.adapters.enginewire.neutral;

import dev.tandemkv.adapters.enginewire.WireBatch;
import dev.tandemkv.adapters.enginewire.WireEvent;
import dev.tandemkv.adapters.enginewire.WireEvent.BlockRemoved;
import dev.tandemkv.adapters.enginewire.WireEvent.BlockStored;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.event.KvEvent.ResidencyDomain;
import dev.tandemkv.indexer.hash.HashScope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one rank has said so far, and what its next batch therefore means. An event goes through the steps from the top of this file to its
 * end: group, place, repeated hashes, namespace, geometry and hashing.
 *
 * <p>Not thread-safe: one thread at a time.
 */
final class RankNormalizer {

    private static final Logger LOG = LoggerFactory.getLogger(RankNormalizer.class);

    private static final int CACHED_SCOPES = 64;

    private final WorkerRank rank;
    private final NormalizerConfig config;
    private final NormalizerCounters counters;
    private final StoreHashing hashing;
    private final GroupFilter groups = new GroupFilter();
    private final NamespaceTable namespaces;

    /** By adapter and namespace, least recently used out: deriving a scope costs as much as hashing several blocks. */
    private final Map<List<String>, HashScope> scopes = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<List<String>, HashScope> eldest) {
            return size() > CACHED_SCOPES;
        }
    };

    RankNormalizer(WorkerRank rank, NormalizerConfig config, NormalizerCounters counters) {
        this.rank = rank;
        this.config = config;
        this.counters = counters;
        this.hashing = new StoreHashing(config.hasher());
        this.namespaces = new NamespaceTable(
                config.rememberedNamespacesPerRank(), config.family().traits().countsCopies());
    }

    NeutralBatch normalize(WireBatch batch) {
        counters.drop(DropReason.UNKNOWN_TAG, batch.unknownEvents());
        List<KvEvent> out = new ArrayList<>(batch.events().size());
        for (WireEvent event : batch.events()) {
            if (event instanceof BlockStored stored) {
                stored(stored, out);
            } else if (event instanceof BlockRemoved removed) {
                removed(removed, out);
            } else if (event instanceof WireEvent.AllBlocksCleared) {
                namespaces.clear();
                out.add(new KvEvent.Cleared());
            } else {
                counters.drop(DropReason.IGNORED_EVENT);
            }
        }
        counters.batch(out.size());
        return new NeutralBatch(rank, batch.timestamp(), out);
    }

    private void stored(BlockStored event, List<KvEvent> out) {
        groups.teach(event.groupIdx(), event.specKind());
        if (event.isPlaceholder()) {
            counters.drop(DropReason.PLACEHOLDER_STORE);
            return;
        }
        Tier tier = keptTier(event.groupIdx(), event.specKind(), event.medium(), event.locality());
        if (tier == null) {
            return;
        }
        long[] blocks = event.blockHashes().values();
        Long parent = event.parent() == null ? null : (Long) event.parent().value(0);
        if (hasDuplicate(parent, blocks)) {
            counters.drop(DropReason.DUPLICATE_HASH);
            out.add(KvEvent.Removed.in(tier));
        } else {
            convert(event, tier, parent, blocks, out);
        }
    }

    private void removed(BlockRemoved event, List<KvEvent> out) {
        Tier tier = keptTier(event.groupIdx(), null, event.medium(), event.locality());
        if (tier == null) {
            return;
        }
        long[] blocks = event.blockHashes().values();
        for (long block : blocks) {
            namespaces.removed(block, tier);
        }
        out.add(new KvEvent.Removed(tier, ownership(tier, event.ownership()), ResidencyDomain.WORKER, blocks));
    }

    /** The tier of an event that passes the filters, or {@code null} if it was dropped. */
    private @Nullable Tier keptTier(
            @Nullable Integer group, @Nullable String kind, @Nullable String medium, @Nullable String locality) {
        DropReason reason = groups.judge(group, kind);
        if (reason == null && !Media.isLocal(locality)) {
            reason = DropReason.REMOTE_LOCALITY;
        }
        Tier tier = Media.tier(medium);
        if (reason == null && tier == null) {
            reason = DropReason.UNKNOWN_MEDIUM;
        }
        if (reason != null) {
            counters.drop(reason);
            return null;
        }
        return tier;
    }

    /** Several stores of one medium matter below the device only. */
    private static @Nullable String ownership(Tier tier, @Nullable String ownership) {
        return tier == Tier.DEVICE ? null : ownership;
    }

    /** Sorting finds a repeat without a hash table that a hostile engine could flood. */
    private static boolean hasDuplicate(@Nullable Long parent, long[] blocks) {
        long[] sorted = Arrays.copyOf(blocks, blocks.length + (parent == null ? 0 : 1));
        if (parent != null) {
            sorted[blocks.length] = parent;
        }
        Arrays.sort(sorted);
        for (int i = 1; i < sorted.length; i++) {
            if (sorted[i - 1] == sorted[i]) {
                return true;
            }
        }
        return false;
    }

    private void convert(BlockStored event, Tier tier, @Nullable Long parent, long[] blocks, List<KvEvent> out) {
        KeyReading keys = KeyReading.of(event);
        String namespace = keys.namespace().isEmpty() ? namespaces.inherited(parent) : keys.namespace();
        if (namespace == null) {
            counters.drop(DropReason.AMBIGUOUS_CACHE_NAMESPACE);
            for (long block : blocks) {
                namespaces.ambiguous(block);
            }
            return;
        }
        StoreHashing.Result hashed = hashing.hash(event, scope(event.loraName(), namespace), keys);
        if (hashed.defect() != null) {
            defect(hashed.defect(), event);
        }
        int kept = hashed.locals().length;
        for (int i = 0; i < kept; i++) {
            namespaces.announced(blocks[i], namespace, tier);
        }
        out.add(new KvEvent.Stored(
                tier,
                ownership(tier, event.ownership()),
                ResidencyDomain.WORKER,
                parent,
                kept == blocks.length ? blocks : Arrays.copyOf(blocks, kept),
                hashed.locals()));
    }

    private HashScope scope(@Nullable String loraName, String namespace) {
        String lora = Objects.requireNonNullElse(loraName, "");
        if (lora.isEmpty() && namespace.isEmpty()) {
            return HashScope.BASE;
        }
        return scopes.computeIfAbsent(List.of(lora, namespace), names -> HashScope.of(names.get(0), names.get(1)));
    }

    private void defect(DropReason reason, BlockStored event) {
        counters.drop(reason);
        if (counters.mayWarn()) {
            LOG.warn(
                    "rank {}: {}: {} (expected: block size {}, look-ahead {}); blocks from the first bad one on are not indexed",
                    rank,
                    reason.label(),
                    event,
                    config.hasher().blockSize(),
                    config.hasher().lookahead());
        }
    }
}

package dev.tandemkv.indexer.dump;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.RankContents;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Collects what a dump says of one rank and refuses what an index could not be made of: a block before its parent, one hash at two places, a
 * removal or a count of a block that was not stored.
 */
final class RecipeBuilder {

    private final WorkerRank rank;
    private final List<KvEvent.Stored> stores = new ArrayList<>();
    private final List<KvEvent.Stored> lowerTiers = new ArrayList<>();
    private final LongSet stored = new LongSet();
    private final Set<Long> lacking = new LinkedHashSet<>();
    private final Map<Long, Integer> counted = new HashMap<>();

    RecipeBuilder(WorkerRank rank) {
        this.rank = rank;
    }

    /** Adds a chain of which no block was stored before. */
    void store(KvEvent.Stored store) {
        requireParent(store);
        for (long hash : store.externalHashes()) {
            if (!stored.add(hash)) {
                throw bad("stores", "hash " + Long.toUnsignedString(hash) + " twice");
            }
        }
        stores.add(store);
    }

    /** Adds a peer's chain, which may name blocks again, and may bring back what an earlier event took. */
    void storeAgain(KvEvent.Stored store) {
        requireParent(store);
        for (long hash : store.externalHashes()) {
            stored.add(hash);
            lacking.remove(hash);
        }
        stores.add(store);
    }

    private void requireParent(KvEvent.Stored store) {
        Long parent = store.parent();
        if (parent != null && !stored.contains(parent)) {
            throw bad("stores", "parent " + Long.toUnsignedString(parent) + " not stored before");
        }
    }

    void lowerTier(KvEvent.Stored store) {
        lowerTiers.add(store);
    }

    void lacks(long hash) {
        if (!stored.contains(hash)) {
            throw bad("lacking", "hash " + Long.toUnsignedString(hash) + " not stored");
        }
        if (!lacking.add(hash)) {
            throw bad("lacking", "hash " + Long.toUnsignedString(hash) + " twice");
        }
    }

    void counts(long hash, int copies) {
        if (!stored.contains(hash) || lacking.contains(hash)) {
            throw bad("counted", "hash " + Long.toUnsignedString(hash) + " not held");
        }
        if (copies == 0 || copies == Integer.MIN_VALUE) {
            throw bad("counted", copies + " copies");
        }
        if (counted.putIfAbsent(hash, copies) != null) {
            throw bad("counted", "hash " + Long.toUnsignedString(hash) + " twice");
        }
    }

    RankContents build(SourceTraits traits, int remembered) {
        if (remembered < 0 || remembered > lacking.size()) {
            throw bad("remembered", remembered + " of " + lacking.size() + " lacking blocks");
        }
        if (!traits.countsCopies() && (remembered > 0 || !counted.isEmpty())) {
            throw bad("duplicates", "copies of a source that does not count them");
        }
        long[] hashes = new long[counted.size()];
        int[] copies = new int[hashes.length];
        int at = 0;
        for (Map.Entry<Long, Integer> entry : counted.entrySet()) {
            hashes[at] = entry.getKey();
            copies[at++] = entry.getValue() < 0 ? ~-entry.getValue() : entry.getValue();
        }
        return new RankContents(
                rank,
                traits,
                stores,
                lacking.stream().mapToLong(Long::longValue).toArray(),
                remembered,
                hashes,
                copies,
                lowerTiers);
    }

    /** Undoes everything; a peer's dump may contain a clear. */
    void clear() {
        stores.clear();
        lowerTiers.clear();
        stored.clear();
        lacking.clear();
        counted.clear();
    }

    /** A peer's removal, which may name blocks that are not there. */
    void removed(KvEvent.Removed event) {
        for (long hash : event.externalHashes()) {
            if (event.tier() != Tier.DEVICE) {
                lowerTiers.removeIf(store -> store.tier() == event.tier()
                        && Objects.equals(store.ownership(), event.ownership())
                        && hash == store.externalHashes()[0]);
            } else if (stored.contains(hash)) {
                lacking.add(hash);
            }
        }
    }

    private MalformedDumpException bad(String field, String problem) {
        return new MalformedDumpException("rank " + rank + "." + field, problem, null);
    }
}

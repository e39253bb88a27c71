package dev.tandemkv.indexer.internal;

import dev.tandemkv.indexer.RankContents;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Collects one rank's contents as a recipe of stores and removals. A run on the way to something the rank holds or remembers is stored whole; what it
 * lacks of it is removed again afterwards. One instance per rank.
 */
final class Contents {

    private final Tree tree;
    private final Entries entries;
    private final RankState rank;

    private final List<KvEvent.Stored> stores = new ArrayList<>();
    private final List<Long> lacking = new ArrayList<>();
    /** Names given to blocks that the rank lacks, by slot. */
    private final Map<Integer, Long> substitutes = new HashMap<>();

    private final Set<Long> used = new HashSet<>();
    private final Set<Integer> visited = new HashSet<>();

    Contents(Tree tree, Entries entries, RankState rank) {
        this.tree = tree;
        this.entries = entries;
        this.rank = rank;
    }

    RankContents collect(List<KvEvent.Stored> lowerTiers) {
        Memory memory = rank.memory;
        int remembered = memory == null ? 0 : memory.size();
        long[] exts = new long[remembered];
        int[] places = new int[remembered];
        if (memory != null) {
            memory.copyTo(exts, places);
        }
        for (long ext : exts) {
            used.add(ext);
            lacking.add(ext);
        }
        List<KvEvent.Stored> extra = new ArrayList<>();
        for (int i = 0; i < remembered; i++) {
            substitutes.putIfAbsent(places[i], exts[i]);
        }
        for (int run = 1; run < tree.runs.high(); run++) {
            if (tree.runs.isLive(run) && tree.holders.has(tree.runs.holders(run), rank.slot)) {
                visit(run);
            }
        }
        for (int place : places) {
            visit(tree.slab.run(place));
        }
        for (int i = 0; i < remembered; i++) {
            if (nameAt(places[i]) != exts[i]) {
                extra.add(single(places[i], exts[i]));
            }
        }
        addFurtherNames(extra);
        stores.addAll(extra);
        return new RankContents(
                rank.rank,
                rank.traits,
                stores,
                lacking.stream().mapToLong(Long::longValue).toArray(),
                remembered,
                countedHashes(),
                countedCopies(),
                lowerTiers);
    }

    /** Stores a run after its ancestors. */
    private void visit(int run) {
        List<Integer> path = new ArrayList<>();
        for (int r = run; r != 0 && visited.add(r); r = tree.slab.run(tree.runs.parent(r))) {
            path.add(r);
        }
        for (int i = path.size() - 1; i >= 0; i--) {
            store(path.get(i));
        }
    }

    private void store(int run) {
        int start = tree.runs.start(run);
        int length = tree.runs.length(run);
        long[] exts = new long[length];
        long[] locals = new long[length];
        for (int i = 0; i < length; i++) {
            exts[i] = nameAt(start + i);
            locals[i] = tree.slab.local(start + i);
        }
        stores.add(KvEvent.Stored.device(parentName(start), exts, locals));
    }

    private @Nullable Long parentName(int slot) {
        int parent = tree.parentOf(slot);
        return parent == 0 ? null : (Long) nameAt(parent);
    }

    private KvEvent.Stored single(int slot, long ext) {
        return KvEvent.Stored.device(parentName(slot), new long[] {ext}, new long[] {tree.slab.local(slot)});
    }

    /** The hash under which the recipe stores a block: the rank's own, or for a block it lacks one that the rank uses nowhere. */
    private long nameAt(int slot) {
        long canonical = tree.slab.ext(slot);
        if (tree.holds(slot, rank.slot)) {
            return rank.names == null ? canonical : rank.names.nameOf(slot, canonical);
        }
        Long given = substitutes.get(slot);
        if (given == null) {
            long name = canonical;
            while (used.contains(name) || entries.find(rank, name) != 0) {
                name = name * 0x9E3779B97F4A7C15L + slot;
            }
            used.add(name);
            lacking.add(name);
            substitutes.put(slot, name);
            given = name;
        }
        return given;
    }

    /** A rank may hold one place under several hashes; the stores so far named one of them. */
    private void addFurtherNames(List<KvEvent.Stored> extra) {
        OwnNames names = rank.names;
        if (names == null || names.isEmpty()) {
            return;
        }
        for (int run = 1; run < tree.runs.high(); run++) {
            if (!tree.runs.isLive(run) || !tree.holders.has(tree.runs.holders(run), rank.slot)) {
                continue;
            }
            for (int slot = tree.runs.start(run); slot <= tree.runs.last(run); slot++) {
                long primary = nameAt(slot);
                for (int node = names.head(slot); node != 0; node = names.next(node)) {
                    if (names.ext(node) != primary) {
                        extra.add(single(slot, names.ext(node)));
                    }
                }
            }
        }
    }

    private long[] countedHashes() {
        List<Long> keys = new ArrayList<>();
        if (rank.copies != null) {
            rank.copies.forEachKey(keys::add);
        }
        return keys.stream().mapToLong(Long::longValue).toArray();
    }

    private int[] countedCopies() {
        long[] keys = countedHashes();
        int[] copies = new int[keys.length];
        for (int i = 0; i < keys.length; i++) {
            copies[i] = rank.copies == null ? 1 : rank.copies.get(keys[i]);
        }
        return copies;
    }
}

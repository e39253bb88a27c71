package dev.tandemkv.indexer.internal;

import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The tiers below the device. Stores are never orphans here: an edge carries its parent's hash itself and counts once the chain above it is held. A
 * rank continues where its faster tiers end, under its own last external hash; a rank that holds nothing faster starts at the root edge.
 *
 * <p>One block may be announced by several stores of a medium ({@code ownership}); the rank owns the edge while one of them has it.
 */
final class LowerTiers {

    private static final int TIERS = Tier.values().length;
    /**
     * Names of stores that have a bit of their own in an owner mask, beside the bit of the unnamed one. All later names share one more, which can only
     * forget too early; it is not part of the contents, where it would need one name.
     */
    private static final int NAMES = 29;

    private static final int SHARED = 1 << (NAMES + 1);

    private final Edges[] tiers = new Edges[TIERS];
    /** Which stores own an edge for a rank, by (edge, rank) per tier, where it is not just the unnamed one. */
    private final LongCounts[] masks = new LongCounts[TIERS];

    private final Map<String, Integer> names = new HashMap<>();

    LowerTiers(Sequence sequence, ByteCount bytes, HolderSets holders, long multiplier) {
        for (int t = 1; t < TIERS; t++) {
            tiers[t] = new Edges(sequence, bytes, holders, multiplier);
            masks[t] = new LongCounts(bytes, multiplier);
        }
    }

    /** The tiers' holder sets. */
    List<HolderSets.Users> users() {
        List<HolderSets.Users> users = new ArrayList<>();
        for (int t = 1; t < TIERS; t++) {
            users.add(tiers[t]);
        }
        return users;
    }

    private int bit(@Nullable String ownership) {
        if (ownership == null) {
            return 1;
        }
        Integer known = names.get(ownership);
        if (known == null) {
            if (names.size() == NAMES) {
                return SHARED;
            }
            known = names.size() + 1;
            names.put(ownership, known);
        }
        return 1 << known;
    }

    private static long key(int edge, int rank) {
        return (long) edge << HolderSets.RANK_BITS | rank;
    }

    void store(RankState rank, KvEvent.Stored event) {
        int level = event.tier().level();
        Edges edges = tiers[level];
        boolean root = event.parent() == null;
        long parent = root ? 0 : Objects.requireNonNull(event.parent());
        int bit = bit(event.ownership());
        for (int i = 0; i < event.blocks(); i++) {
            long child = event.externalHashes()[i];
            long local = event.localHashes()[i];
            int here = edges.ownedByKey(rank.slot, root, parent, local);
            int there = edges.ownedByChild(rank.slot, child);
            if (here != there) {
                return;
            }
            if (here == 0) {
                here = edges.own(rank.slot, root, parent, local, child);
                setMask(level, here, rank.slot, bit);
            } else {
                setMask(level, here, rank.slot, mask(level, here, rank.slot) | bit);
            }
            root = false;
            parent = child;
        }
    }

    private int mask(int level, int edge, int rank) {
        int mask = masks[level].get(key(edge, rank));
        return mask == 0 ? 1 : mask;
    }

    private void setMask(int level, int edge, int rank, int mask) {
        masks[level].set(key(edge, rank), mask == 1 ? 0 : mask);
    }

    void remove(RankState rank, KvEvent.Removed event) {
        int level = event.tier().level();
        Edges edges = tiers[level];
        int bit = bit(event.ownership());
        for (long child : event.externalHashes()) {
            int edge = edges.ownedByChild(rank.slot, child);
            if (edge != 0) {
                int left = mask(level, edge, rank.slot) & ~bit;
                if (left == 0) {
                    setMask(level, edge, rank.slot, 1);
                    edges.disown(rank.slot, edge);
                } else {
                    setMask(level, edge, rank.slot, left);
                }
            }
        }
    }

    void clear(RankState rank) {
        for (int t = 1; t < TIERS; t++) {
            Edges edges = tiers[t];
            for (int edge = 1; edge < edges.endOfSets() && edges.size() > 0; edge++) {
                if (owns(edges, edge, rank)) {
                    setMask(t, edge, rank.slot, 1);
                    edges.disown(rank.slot, edge);
                }
            }
        }
    }

    private static boolean owns(Edges edges, int edge, RankState rank) {
        return edges.hasSet(edge) && edges.owns(edge, rank.slot);
    }

    /** Single-block stores that rebuild what a rank owns. */
    List<KvEvent.Stored> contents(RankState rank) {
        List<KvEvent.Stored> stores = new ArrayList<>();
        for (Tier tier : Tier.values()) {
            if (tier == Tier.DEVICE) {
                continue;
            }
            Edges edges = tiers[tier.level()];
            for (int edge = 1; edge < edges.endOfSets(); edge++) {
                if (owns(edges, edge, rank)) {
                    addContents(stores, tier, edges, edge, mask(tier.level(), edge, rank.slot));
                }
            }
        }
        return stores;
    }

    private void addContents(List<KvEvent.Stored> stores, Tier tier, Edges edges, int edge, int mask) {
        Long parent = edges.fromRoot(edge) ? null : edges.parent(edge);
        long[] ext = {edges.child(edge)};
        long[] local = {edges.local(edge)};
        if ((mask & 1) != 0) {
            stores.add(stored(tier, null, parent, ext, local));
        }
        for (Map.Entry<String, Integer> name : names.entrySet()) {
            if ((mask >>> name.getValue() & 1) != 0) {
                stores.add(stored(tier, name.getKey(), parent, ext, local));
            }
        }
    }

    private static KvEvent.Stored stored(
            Tier tier, @Nullable String ownership, @Nullable Long parent, long[] ext, long[] local) {
        return new KvEvent.Stored(tier, ownership, KvEvent.ResidencyDomain.WORKER, parent, ext, local);
    }

    long growthFor(KvEvent.Stored event) {
        return tiers[event.tier().level()].growthFor(event.blocks())
                + masks[event.tier().level()].growthFor(event.blocks());
    }

    boolean isEmpty() {
        for (int t = 1; t < TIERS; t++) {
            if (tiers[t].size() > 0) {
                return false;
            }
        }
        return true;
    }

    /** A reader's continuation behind the device scores, whose last hashes are resolved. */
    void find(long[] locals, int length, ScoreScratch out, RankDirectory ranks) {
        out.armTiers();
        for (int t = 1; t < TIERS; t++) {
            Edges edges = tiers[t];
            if (edges.size() == 0) {
                continue;
            }
            for (int slot = out.nextTouched(0); slot >= 0; slot = out.nextTouched(slot + 1)) {
                advance(edges, t, slot, locals, length, out);
            }
            if (length > 0) {
                startAtRoot(edges, t, locals, length, out, ranks.slots());
            }
        }
    }

    /** Ranks known to no faster tier. */
    private static void startAtRoot(Edges edges, int tier, long[] locals, int length, ScoreScratch out, int slots) {
        int steps = edges.size();
        int edge = edges.firstOfKey(true, 0, locals[0]);
        while (edge != 0 && steps-- >= 0) {
            for (int slot = edges.nextOwner(edge, 0, slots); slot >= 0; slot = edges.nextOwner(edge, slot + 1, slots)) {
                if (!out.isTouched(slot)) {
                    out.startTier(tier, slot, edges.child(edge));
                    advance(edges, tier, slot, locals, length, out);
                }
            }
            edge = edges.nextOfKey(edge, true, 0, locals[0]);
        }
    }

    private static void advance(Edges edges, int tier, int slot, long[] locals, int length, ScoreScratch out) {
        int depth = out.tierDepth(slot);
        long last = out.tierHash(slot);
        int hits = 0;
        while (depth < length) {
            int edge = edges.ownedByKey(slot, false, last, locals[depth]);
            if (edge == 0) {
                break;
            }
            last = edges.child(edge);
            depth++;
            hits++;
        }
        out.advanceTier(tier, slot, hits, last);
    }
}

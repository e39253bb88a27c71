package dev.tandemkv.indexer;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.event.KvEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The rules of the prefix index written down as plainly as they can be: per rank a map of its external hashes to places, where a place is a path
 * of local hashes from the root. No structure is shared between ranks, so no rank's answer can depend on another's.
 */
final class NaiveIndex {

    /** A path of local hashes. */
    static final class Place {
        final @Nullable Place parent;
        final long local;
        final Map<Long, Place> children = new HashMap<>();

        Place(@Nullable Place parent, long local) {
            this.parent = parent;
            this.local = local;
        }

        Place child(long next) {
            return children.computeIfAbsent(next, l -> new Place(this, l));
        }

        boolean isBelow(Place other) {
            for (Place p = parent; p != null; p = p.parent) {
                if (p == other) {
                    return true;
                }
            }
            return false;
        }
    }

    static final class Entry {
        final Place place;
        int copies = 1;
        boolean mayBeShort;

        Entry(Place place) {
            this.place = place;
        }
    }

    record Edge(@Nullable Long parent, long local) {}

    static final class Owned {
        final Edge edge;
        final Set<String> owners = new HashSet<>();

        Owned(Edge edge) {
            this.edge = edge;
        }
    }

    static final class LowerTier {
        final Map<Edge, Long> children = new HashMap<>();
        final Map<Long, Owned> byExt = new HashMap<>();
    }

    static final class RankState {
        SourceTraits traits;
        final Map<Long, Entry> entries = new LinkedHashMap<>();
        final Map<Place, Integer> held = new HashMap<>();
        final LinkedHashMap<Long, Place> memory = new LinkedHashMap<>();
        final Map<Tier, LowerTier> tiers = new HashMap<>();

        RankState(SourceTraits traits) {
            this.traits = traits;
        }
    }

    private final HolePolicy holes;
    private final SourceTraits defaults;
    private final int memoryBound;
    private final Place root = new Place(null, 0);
    private final Map<WorkerRank, RankState> ranks = new LinkedHashMap<>();

    long healed;
    long moves;

    public NaiveIndex(HolePolicy holes, SourceTraits defaults, int memoryBound) {
        this.holes = holes;
        this.defaults = defaults;
        this.memoryBound = memoryBound;
    }

    public void register(WorkerRank rank, SourceTraits traits) {
        RankState state = ranks.computeIfAbsent(rank, r -> new RankState(traits));
        if (state.traits.countsCopies() && !traits.countsCopies()) {
            state.memory.clear();
            for (Entry entry : state.entries.values()) {
                entry.copies = 1;
                entry.mayBeShort = false;
            }
        }
        state.traits = traits;
    }

    LongStream hashesOf(WorkerRank rank) {
        RankState state = ranks.get(rank);
        return state == null
                ? LongStream.empty()
                : state.entries.keySet().stream().mapToLong(Long::longValue);
    }

    public EventOutcome apply(WorkerRank rank, KvEvent event) {
        RankState state = ranks.computeIfAbsent(rank, r -> new RankState(defaults));
        if (event instanceof KvEvent.Cleared) {
            clear(state);
            return EventOutcome.OK;
        }
        if (event instanceof KvEvent.Stored stored) {
            if (stored.residency() != KvEvent.ResidencyDomain.WORKER) {
                return EventOutcome.UNSUPPORTED_RESIDENCY_DOMAIN;
            }
            return stored.tier() == Tier.DEVICE ? store(state, stored) : storeLower(state, stored);
        }
        KvEvent.Removed removed = (KvEvent.Removed) event;
        if (removed.residency() != KvEvent.ResidencyDomain.WORKER) {
            return EventOutcome.UNSUPPORTED_RESIDENCY_DOMAIN;
        }
        return removed.tier() == Tier.DEVICE ? remove(state, removed) : removeLower(state, removed);
    }

    private static void clear(RankState state) {
        state.entries.clear();
        state.held.clear();
        state.memory.clear();
        state.tiers.clear();
    }

    private EventOutcome store(RankState state, KvEvent.Stored event) {
        long[] exts = event.externalHashes();
        Long parent = event.parent();
        if (exts.length == 0) {
            return EventOutcome.OK;
        }
        if (parent != null) {
            for (long ext : exts) {
                if (ext == parent) {
                    return EventOutcome.INVALID_SEQUENCE;
                }
            }
        }
        Place place = root;
        boolean proved = false;
        if (parent != null) {
            Entry held = state.entries.get(parent);
            if (held == null) {
                Place remembered = state.memory.get(parent);
                if (!state.traits.countsCopies() || remembered == null || !mayHeal(state, remembered)) {
                    return EventOutcome.PARENT_NOT_FOUND;
                }
                state.memory.remove(parent);
                held = new Entry(remembered);
                held.mayBeShort = true;
                put(state, parent, held);
                proved = true;
                healed++;
            }
            place = held.place;
        }
        boolean adds = parent != null || state.traits.rootStoresAddCopies();
        boolean duplicate = !proved;
        boolean moved = false;
        for (int i = 0; i < exts.length; i++) {
            Place at = place.child(event.localHashes()[i]);
            Entry old = state.entries.get(exts[i]);
            if (old != null && old.place == at) {
                countAgain(state.traits, old, adds);
            } else {
                duplicate = false;
                if (old != null) {
                    moves++;
                    moved |= old.place.parent != at.parent;
                    drop(state, exts[i], old, new HashSet<>());
                    if (holes == HolePolicy.TRUNCATE && place != root && !state.held.containsKey(place)) {
                        return EventOutcome.MOVED;
                    }
                }
                Entry fresh = new Entry(at);
                fresh.mayBeShort = state.memory.remove(exts[i]) != null;
                put(state, exts[i], fresh);
            }
            place = at;
        }
        if (moved) {
            return EventOutcome.MOVED;
        }
        return proved ? EventOutcome.HEALED : duplicate ? EventOutcome.DUPLICATE : EventOutcome.OK;
    }

    private boolean mayHeal(RankState state, Place place) {
        if (holes == HolePolicy.EXACT) {
            return true;
        }
        for (Place p = place.parent; p != null && p != root; p = p.parent) {
            if (!state.held.containsKey(p)) {
                return false;
            }
        }
        return true;
    }

    private static void countAgain(SourceTraits traits, Entry entry, boolean adds) {
        if (!traits.countsCopies()) {
            return;
        }
        if (adds) {
            entry.copies++;
        } else {
            entry.mayBeShort = true;
        }
    }

    private static void put(RankState state, long ext, Entry entry) {
        state.entries.put(ext, entry);
        state.held.merge(entry.place, 1, Integer::sum);
    }

    /** Takes an entry out; under TRUNCATE the rank's suffix goes with the last entry of its place. */
    private void drop(RankState state, long ext, Entry entry, Set<Long> scrubbed) {
        state.entries.remove(ext);
        int left = state.held.merge(entry.place, -1, Integer::sum);
        if (left > 0) {
            return;
        }
        state.held.remove(entry.place);
        if (holes == HolePolicy.TRUNCATE) {
            for (Iterator<Map.Entry<Long, Entry>> it = state.entries.entrySet().iterator(); it.hasNext(); ) {
                Map.Entry<Long, Entry> other = it.next();
                if (other.getValue().place.isBelow(entry.place)) {
                    scrubbed.add(other.getKey());
                    state.held.remove(other.getValue().place);
                    it.remove();
                }
            }
        }
    }

    private EventOutcome remove(RankState state, KvEvent.Removed event) {
        EventOutcome outcome = EventOutcome.OK;
        Set<Long> scrubbed = new HashSet<>();
        for (long ext : event.externalHashes()) {
            Entry entry = state.entries.get(ext);
            if (entry == null) {
                if (!scrubbed.contains(ext)) {
                    outcome = EventOutcome.BLOCK_NOT_FOUND;
                }
            } else if (state.traits.countsCopies() && entry.copies > 1) {
                entry.copies--;
            } else {
                drop(state, ext, entry, scrubbed);
                if (state.traits.countsCopies() && entry.mayBeShort) {
                    remember(state, ext, entry.place);
                }
            }
        }
        return outcome;
    }

    private void remember(RankState state, long ext, Place place) {
        state.memory.remove(ext);
        state.memory.put(ext, place);
        if (state.memory.size() > memoryBound) {
            state.memory.remove(state.memory.keySet().iterator().next());
        }
    }

    private static String owner(@Nullable String ownership) {
        return ownership == null ? "" : "=" + ownership;
    }

    private static EventOutcome storeLower(RankState state, KvEvent.Stored event) {
        LowerTier tier = state.tiers.computeIfAbsent(event.tier(), t -> new LowerTier());
        Long parent = event.parent();
        for (int i = 0; i < event.blocks(); i++) {
            long ext = event.externalHashes()[i];
            Edge edge = new Edge(parent, event.localHashes()[i]);
            Long child = tier.children.get(edge);
            Owned owned = tier.byExt.get(ext);
            if ((child != null && child != ext) || (owned != null && !owned.edge.equals(edge))) {
                break;
            }
            if (owned == null) {
                owned = new Owned(edge);
                tier.children.put(edge, ext);
                tier.byExt.put(ext, owned);
            }
            owned.owners.add(owner(event.ownership()));
            parent = ext;
        }
        return EventOutcome.OK;
    }

    private static EventOutcome removeLower(RankState state, KvEvent.Removed event) {
        LowerTier tier = state.tiers.get(event.tier());
        if (tier != null) {
            for (long ext : event.externalHashes()) {
                Owned owned = tier.byExt.get(ext);
                if (owned != null && owned.owners.remove(owner(event.ownership())) && owned.owners.isEmpty()) {
                    tier.byExt.remove(ext);
                    tier.children.remove(owned.edge);
                }
            }
        }
        return EventOutcome.OK;
    }

    public void removeRank(WorkerRank rank) {
        ranks.remove(rank);
    }

    public void removeWorker(long workerId) {
        ranks.keySet().removeIf(r -> r.workerId() == workerId);
    }

    public Set<WorkerRank> ranks() {
        return ranks.keySet();
    }

    /** Device blocks of the query that a rank holds without a gap from the start. */
    public int score(WorkerRank rank, long[] locals, int length) {
        RankState state = ranks.get(rank);
        Place place = root;
        int depth = 0;
        while (state != null && depth < length) {
            place = place.children.get(locals[depth]);
            if (place == null || !state.held.containsKey(place)) {
                break;
            }
            depth++;
        }
        return depth;
    }

    /** The rank's hash of its last matched block, unless it has several for it. */
    OptionalLong lastHash(WorkerRank rank, long[] locals, int score) {
        RankState state = ranks.get(rank);
        Place place = root;
        for (int i = 0; i < score; i++) {
            place = Objects.requireNonNull(place.children.get(locals[i]));
        }
        Set<Long> names = new HashSet<>();
        if (state != null && score > 0) {
            for (Map.Entry<Long, Entry> e : state.entries.entrySet()) {
                if (e.getValue().place == place) {
                    names.add(e.getKey());
                }
            }
        }
        return names.size() == 1 ? OptionalLong.of(names.iterator().next()) : OptionalLong.empty();
    }

    /** Device score, then the further blocks of each lower tier, by its level. */
    public int[] tieredScore(WorkerRank rank, long[] locals, int length) {
        int[] result = new int[Tier.values().length];
        RankState state = ranks.get(rank);
        if (state == null) {
            return result;
        }
        int depth = score(rank, locals, length);
        result[0] = depth;
        OptionalLong name = lastHash(rank, locals, depth);
        Long last = name.isPresent() ? (Long) name.getAsLong() : null;
        for (Tier t : Tier.values()) {
            LowerTier tier = state.tiers.get(t);
            while (tier != null && depth < length) {
                Long next = tier.children.get(new Edge(last, locals[depth]));
                if (next == null) {
                    break;
                }
                last = next;
                depth++;
                result[t.level()]++;
            }
        }
        return result;
    }

    /** Number of device places a rank holds. */
    public int size(WorkerRank rank) {
        RankState state = ranks.get(rank);
        return state == null ? 0 : state.held.size();
    }

    /** Copies of one of the rank's blocks: 0 if it is not held, negative (the complement) where the count may be short. */
    public int copies(WorkerRank rank, long ext) {
        RankState state = ranks.get(rank);
        Entry entry = state == null ? null : state.entries.get(ext);
        return entry == null ? 0 : entry.mayBeShort ? ~entry.copies : entry.copies;
    }

    /** External hashes remembered as proof of holding, oldest first. */
    public List<Long> remembered(WorkerRank rank) {
        RankState state = ranks.get(rank);
        return state == null ? List.of() : new ArrayList<>(state.memory.keySet());
    }
}

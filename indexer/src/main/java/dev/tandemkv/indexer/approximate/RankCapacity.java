package dev.tandemkv.indexer.approximate;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The cache of one rank as a least-recently-used pool of block copies with a capacity. Not thread-safe; the effects on an index are
 * returned, not made.
 *
 * <p>A copy is a physical block: a hash may have several, because a request that misses once allocates all of the rest. Copies in use are
 * never evicted, so the pool can be over its capacity. A copy that nobody uses is evictable; the order is the lowest release epoch, then the
 * deepest position, then the lowest id. {@code evictable} holds exactly the copies without users.
 */
final class RankCapacity {

    private static final class Copy {
        final long hash;
        final int position;
        final long id;
        int users;
        long releaseEpoch;

        Copy(long hash, int position, long id) {
            this.hash = hash;
            this.position = position;
            this.id = id;
        }
    }

    private static final class Lease {
        final List<Copy> copies = new ArrayList<>();
        int privateBlocks;
    }

    private static final Comparator<Copy> EVICTION_ORDER = Comparator.<Copy>comparingLong(c -> c.releaseEpoch)
            .thenComparing(c -> c.position, Comparator.reverseOrder())
            .thenComparingLong(c -> c.id);

    private final Map<Long, List<Copy>> resident = new HashMap<>();
    private final Map<String, Lease> leases = new HashMap<>();
    private final TreeSet<Copy> evictable = new TreeSet<>(EVICTION_ORDER);
    private long capacity;
    private int copies;
    private long privateBlocks;
    private long epoch;
    private long nextId;

    RankCapacity(long capacity) {
        this.capacity = capacity;
    }

    /** Hashes whose last copy went. */
    long[] setCapacity(long blocks) {
        capacity = blocks;
        return reconcile();
    }

    boolean isHeldBy(String attempt) {
        return leases.containsKey(attempt);
    }

    int leases() {
        return leases.size();
    }

    /**
     * Takes the blocks of a prompt: a copy of each block up to the first miss, from there on new ones.
     *
     * @param hashes of the prompt's complete blocks, from its start
     * @param tail blocks that no hash names, such as a partial one
     */
    void acquire(String attempt, long[] hashes, int tail) {
        Lease lease = new Lease();
        leases.put(attempt, lease);
        int block = 0;
        for (; block < hashes.length && resident.containsKey(hashes[block]); block++) {
            use(lease, best(hashes[block]));
        }
        allocate(lease, hashes, block, 0);
        setPrivate(lease, tail);
    }

    /** Adds blocks that a running request has filled; false if the attempt holds nothing. */
    boolean materialize(String attempt, long[] hashes, int start, int tail) {
        Lease lease = leases.get(attempt);
        if (lease == null) {
            return false;
        }
        allocate(lease, hashes, 0, start);
        setPrivate(lease, tail);
        return true;
    }

    private void allocate(Lease lease, long[] hashes, int from, int start) {
        for (int i = from; i < hashes.length; i++) {
            Copy copy = new Copy(hashes[i], start + i, nextId++);
            resident.computeIfAbsent(copy.hash, h -> new ArrayList<>(1)).add(copy);
            copies++;
            copy.users = 1;
            lease.copies.add(copy);
        }
    }

    /** One in use if there is one, so that spare copies can go. */
    private Copy best(long hash) {
        List<Copy> all = resident.getOrDefault(hash, List.of());
        for (Copy copy : all) {
            if (copy.users > 0) {
                return copy;
            }
        }
        return all.get(0);
    }

    private void use(Lease lease, Copy copy) {
        if (copy.users++ == 0) {
            evictable.remove(copy);
        }
        lease.copies.add(copy);
    }

    private void setPrivate(Lease lease, int blocks) {
        privateBlocks += blocks - lease.privateBlocks;
        lease.privateBlocks = blocks;
    }

    /** Gives the attempt's blocks back; a second time, or an unknown attempt, does nothing. */
    void release(String attempt) {
        Lease lease = leases.remove(attempt);
        if (lease == null) {
            return;
        }
        epoch++;
        setPrivate(lease, 0);
        for (Copy copy : lease.copies) {
            if (--copy.users == 0) {
                copy.releaseEpoch = epoch;
                evictable.add(copy);
            }
        }
    }

    /** Evicts down to the capacity as far as copies are unused. Returns the hashes whose last copy went. */
    long[] reconcile() {
        List<Long> gone = new ArrayList<>();
        while (copies + privateBlocks > capacity) {
            @Nullable Copy victim = evictable.pollFirst();
            if (victim == null) {
                break;
            }
            copies--;
            List<Copy> left = resident.getOrDefault(victim.hash, List.of());
            left.remove(victim);
            if (left.isEmpty()) {
                resident.remove(victim.hash);
                gone.add(victim.hash);
            }
        }
        return gone.stream().mapToLong(Long::longValue).toArray();
    }

    CapacityStats stats() {
        return new CapacityStats(
                capacity,
                copies,
                privateBlocks,
                resident.size(),
                leases.size(),
                Math.max(0, copies + privateBlocks - capacity));
    }
}

package dev.tandemkv.affinity.internal;

import dev.tandemkv.affinity.AffinityVersion;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Invalidated bindings, remembered for a bounded time so that a late update of an older version does not bring one back. Bounded in
 * number too: the oldest is forgotten first. Thread-safe; its lock is a leaf, nothing is called under it.
 */
public final class Tombstones {

    private final long retentionNanos;
    private final int capacity;
    /** In order of expiry, because every tombstone lives equally long. Guarded by this. */
    private final LinkedHashMap<String, Tombstone> bySession = new LinkedHashMap<>();

    private record Tombstone(AffinityVersion version, long expiresAt) {}

    public Tombstones(long retentionNanos, int capacity) {
        this.retentionNanos = retentionNanos;
        this.capacity = capacity;
    }

    /** Remembers the newer of this version and one remembered before. */
    synchronized void bury(String sessionId, AffinityVersion version, long now) {
        Tombstone before = bySession.remove(sessionId);
        AffinityVersion newest = before != null && before.version.isNewerThan(version) ? before.version : version;
        bySession.put(sessionId, new Tombstone(newest, now + retentionNanos));
        dropExpired(now);
        if (bySession.size() > capacity) {
            dropFirst();
        }
    }

    /** Whether a remembered tombstone is at least as new as this version. */
    synchronized boolean covers(String sessionId, AffinityVersion version, long now) {
        Tombstone tombstone = bySession.get(sessionId);
        return tombstone != null && tombstone.expiresAt - now > 0 && !version.isNewerThan(tombstone.version);
    }

    synchronized void dropExpired(long now) {
        while (!bySession.isEmpty() && bySession.values().iterator().next().expiresAt - now <= 0) {
            dropFirst();
        }
    }

    public synchronized int size() {
        return bySession.size();
    }

    /** Calls the visitor for each, on a copy and outside the lock. */
    public void forEach(BiConsumer<String, AffinityVersion> visitor) {
        Map<String, Tombstone> copy;
        synchronized (this) {
            copy = new LinkedHashMap<>(bySession);
        }
        copy.forEach((sessionId, tombstone) -> visitor.accept(sessionId, tombstone.version));
    }

    private void dropFirst() {
        Iterator<Tombstone> inOrder = bySession.values().iterator();
        inOrder.next();
        inOrder.remove();
    }
}

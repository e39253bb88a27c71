package dev.tandemkv.selection.internal.reservation;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.selection.config.LifetimeConfig;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The selections that can still be turned into bookings, by partition and selection id. Bounded by age, number and bytes.
 *
 * <p>One map in order of insertion: a selection under a known id leaves its old place and goes to the end, so the oldest is always first
 * and the order needs no index of its own. A generation tells a selection from a later one under the same id.
 *
 * <p>Thread-safe; {@code this} guards everything, for a few map operations at a time.
 */
public final class PendingSelections {

    private record Key(PartitionKey partition, String selectionId) {}

    /** A kept selection and which one it is. */
    public record Pending(CapturedSelection selection, long generation, long insertedAt) {}

    private final Ticker ticker;
    private final long ttlNanos;
    private final int maxEntries;
    private final long maxBytes;
    private final LinkedHashMap<Key, Pending> byAge = new LinkedHashMap<>();
    private long bytes;
    private long generations;

    public PendingSelections(LifetimeConfig lifetimes, Ticker ticker) {
        this.ticker = ticker;
        ttlNanos = lifetimes.selectionCacheTtl().toNanos();
        maxEntries = lifetimes.selectionCacheMaxEntries();
        maxBytes = lifetimes.selectionCacheMaxBytes();
    }

    /** Keeps a selection in place of a former one under its id. One that alone passes the byte budget is not kept. */
    public synchronized void put(CapturedSelection selection) {
        long now = ticker.read();
        Key key = new Key(selection.partition(), selection.selectionId());
        forget(byAge.remove(key));
        dropExpired(now);
        long size = selection.approximateBytes();
        if (size > maxBytes) {
            return;
        }
        byAge.put(key, new Pending(selection, ++generations, now));
        bytes += size;
        Iterator<Pending> oldest = byAge.values().iterator();
        while (byAge.size() > maxEntries || bytes > maxBytes) {
            forget(oldest.next());
            oldest.remove();
        }
    }

    /** The selection kept under an id, or {@code null} if there is none or it is too old. */
    public synchronized @Nullable Pending find(PartitionKey partition, String selectionId) {
        Pending pending = byAge.get(new Key(partition, selectionId));
        return pending == null || expired(pending, ticker.read()) ? null : pending;
    }

    /** Drops exactly this selection; a later one under its id stays. */
    public synchronized void remove(Pending pending) {
        Key key = new Key(pending.selection().partition(), pending.selection().selectionId());
        Pending present = byAge.get(key);
        if (present != null && present.generation() == pending.generation()) {
            forget(byAge.remove(key));
        }
    }

    /** Drops whatever is kept under an id. */
    public synchronized void discard(PartitionKey partition, String selectionId) {
        forget(byAge.remove(new Key(partition, selectionId)));
    }

    public synchronized int size() {
        return byAge.size();
    }

    public synchronized long bytes() {
        return bytes;
    }

    private void dropExpired(long now) {
        for (Iterator<Map.Entry<Key, Pending>> i = byAge.entrySet().iterator(); i.hasNext(); ) {
            Pending oldest = i.next().getValue();
            if (!expired(oldest, now)) {
                return;
            }
            forget(oldest);
            i.remove();
        }
    }

    private boolean expired(Pending pending, long now) {
        return now - pending.insertedAt() > ttlNanos;
    }

    private void forget(@Nullable Pending gone) {
        if (gone != null) {
            bytes -= gone.selection().approximateBytes();
        }
    }
}

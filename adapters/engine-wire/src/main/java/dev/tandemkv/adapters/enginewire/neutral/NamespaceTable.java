package dev.tandemkv.adapters.enginewire.neutral;

import dev.tandemkv.indexer.Tier;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Under which cache namespace the blocks of one rank were announced. Engines name a salt with the first block of a chain only, so a child
 * takes its parent's.
 *
 * <p>Only blocks with a namespace are remembered: a parent that is not here has none, or is not known. If that is wrong (a salted parent
 * was forgotten), the child's local hash stands under a salted chain without the salt, where no request finds it: an under-count, never an
 * over-count. So the table may forget, oldest first, beyond its bound.
 *
 * <p>An entry counts announcements per tier, one byte each, because an engine announces every copy and removes each: it is forgotten with
 * the last, and a count that has saturated stays. A source that announces a block once counts to one. Entries seen under two namespaces
 * are ambiguous until the rank is cleared.
 *
 * <p>Not thread-safe; confined to the normaliser.
 */
final class NamespaceTable {

    private static final int SATURATED = 255;

    private final int bound;
    private final boolean countsCopies;
    private final Map<Long, Entry> entries = new LinkedHashMap<>();

    NamespaceTable(int bound, boolean countsCopies) {
        this.bound = bound;
        this.countsCopies = countsCopies;
    }

    private static final class Entry {
        private final String namespace;
        private boolean ambiguous;
        private int announcements;

        Entry(String namespace) {
            this.namespace = namespace;
        }
    }

    /** The parent's namespace, empty if it has none or is not known, {@code null} if it is ambiguous. */
    @Nullable
    String inherited(@Nullable Long parent) {
        Entry entry = parent == null ? null : entries.get(parent);
        if (entry == null) {
            return "";
        }
        return entry.ambiguous ? null : entry.namespace;
    }

    /** Notes that a block was announced under a namespace; the empty one is none. */
    void announced(long block, String namespace, Tier tier) {
        Entry entry = entries.get(block);
        if (entry == null) {
            if (namespace.isEmpty()) {
                return;
            }
            entry = new Entry(namespace);
            put(block, entry);
        } else if (!entry.namespace.equals(namespace)) {
            entry.ambiguous = true;
        }
        int count = count(entry, tier);
        entry.announcements = with(entry, tier, countsCopies ? Math.min(SATURATED, count + 1) : 1);
    }

    /** Notes that what hangs on a block cannot be told: the children of an ambiguous one. */
    void ambiguous(long block) {
        Entry entry = entries.get(block);
        if (entry == null) {
            entry = new Entry("");
            put(block, entry);
        }
        entry.ambiguous = true;
    }

    void removed(long block, Tier tier) {
        Entry entry = entries.get(block);
        if (entry == null || entry.ambiguous) {
            return;
        }
        int count = count(entry, tier);
        if (count > 0 && count < SATURATED) {
            entry.announcements = with(entry, tier, count - 1);
        }
        if (entry.announcements == 0) {
            entries.remove(block);
        }
    }

    void clear() {
        entries.clear();
    }

    int size() {
        return entries.size();
    }

    private void put(long block, Entry entry) {
        if (entries.size() >= bound) {
            var oldest = entries.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
        entries.put(block, entry);
    }

    private static int count(Entry entry, Tier tier) {
        return (entry.announcements >>> shift(tier)) & SATURATED;
    }

    private static int with(Entry entry, Tier tier, int count) {
        int shift = shift(tier);
        return (entry.announcements & ~(SATURATED << shift)) | (count << shift);
    }

    /** Where the tier's byte begins. */
    private static int shift(Tier tier) {
        return switch (tier) {
            case DEVICE -> 0;
            case HOST_PINNED -> 8;
            case DISK -> 16;
            case EXTERNAL -> 24;
        };
    }
}

package dev.tandemkv.selection.internal.replica;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Remembers for a while what ended at peers, because its beginning may arrive later. Thread-safe. Entries lie in the order in which they
 * were noted; the oldest go once their time is over or there are too many.
 */
final class EndedBookings {

    enum End {
        PREFILL,
        BOOKING
    }

    private record Note(End end, long at) {}

    private final long keptNanos;
    private final int most;
    private final Map<BookingKey, Note> notes = new LinkedHashMap<>();

    EndedBookings(long keptNanos, int most) {
        this.keptNanos = keptNanos;
        this.most = most;
    }

    synchronized void note(BookingKey key, End end, long now) {
        Note before = notes.remove(key);
        End kept = before != null && before.end() == End.BOOKING ? End.BOOKING : end;
        notes.put(key, new Note(kept, now));
        Iterator<Note> oldest = notes.values().iterator();
        while (oldest.hasNext() && (now - oldest.next().at() > keptNanos || notes.size() > most)) {
            oldest.remove();
        }
    }

    /** How far the booking is known to have come, or {@code null}. */
    synchronized @Nullable End of(BookingKey key, long now) {
        Note note = notes.get(key);
        return note == null || now - note.at() > keptNanos ? null : note.end();
    }

    synchronized int size() {
        return notes.size();
    }
}

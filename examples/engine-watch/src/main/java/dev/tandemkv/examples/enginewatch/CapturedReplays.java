package dev.tandemkv.examples.enginewatch;

import dev.tandemkv.adapters.enginewire.ReplayMessage;
import dev.tandemkv.adapters.enginewire.WireFormatException;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What one source of a capture answered to replay requests, by the life of its publisher: a live number that is lower than the one before
 * begins another. A batch that was answered twice is there once.
 */
final class CapturedReplays {

    private final List<NavigableMap<Long, ReplayMessage.Data>> lives = new ArrayList<>();
    private int life;
    private @Nullable Long lastLive;
    private @Nullable Long liveBefore;

    CapturedReplays() {
        lives.add(new TreeMap<>(Long::compareUnsigned));
    }

    /** From the first life on again. */
    void rewind() {
        life = 0;
        lastLive = null;
        liveBefore = null;
    }

    /** Whether a live number begins another life. */
    boolean isAnotherLife(long sequence) {
        Long before = lastLive;
        return before != null && Long.compareUnsigned(sequence, before) < 0;
    }

    /** A live message, from which on the present life may be another. */
    void live(long sequence) {
        boolean another = isAnotherLife(sequence);
        if (another && ++life == lives.size()) {
            lives.add(new TreeMap<>(Long::compareUnsigned));
        }
        liveBefore = another ? null : lastLive;
        lastLive = sequence;
    }

    /**
     * A reply of the present life.
     *
     * @param frames as a DEALER receives them, or a REQ, whose socket takes the delimiter away
     * @return the batch, or {@code null} for the end marker
     * @throws WireFormatException if it is no reply
     */
    ReplayMessage.@Nullable Data add(List<byte[]> frames) {
        List<byte[]> whole = frames;
        if (frames.size() == 2) {
            whole = new ArrayList<>(frames);
            whole.add(0, new byte[0]);
        }
        if (!(ReplayMessage.of(whole) instanceof ReplayMessage.Data data)) {
            return null;
        }
        lives.get(life).putIfAbsent(data.sequence(), data);
        return data;
    }

    /** Batches of the present life between its last two live messages, or before its first. */
    List<ReplayMessage.Data> missing() {
        Long now = lastLive;
        if (now == null) {
            return List.of();
        }
        NavigableMap<Long, ReplayMessage.Data> earlier = lives.get(life).headMap(now, false);
        Long before = liveBefore;
        return List.copyOf((before == null ? earlier : earlier.tailMap(before, false)).values());
    }

    /** Batches of the present life behind its last live message. */
    List<ReplayMessage.Data> behind() {
        Long now = lastLive;
        NavigableMap<Long, ReplayMessage.Data> all = lives.get(life);
        return List.copyOf((now == null ? all : all.tailMap(now, false)).values());
    }
}

package dev.tandemkv.indexer.event;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** What a source answered when it was asked for lost batches. Immutable. */
public sealed interface ReplayReply permits ReplayReply.Batches, ReplayReply.Contents {

    /** Whether the source said that nothing follows. */
    enum End {
        MARKED,
        /** It fell silent: what is missing at the end may have been lost on the way. */
        SILENT
    }

    /**
     * The batches that arrived, in any order; numbers may be missing and repeated.
     *
     * @param batches in the order of arrival
     * @param end whether the end marker arrived
     */
    record Batches(List<EventBatch> batches, End end) implements ReplayReply {
        public Batches {
            batches = List.copyOf(batches);
            Objects.requireNonNull(end, "end");
        }

        /** Sorted by number, repeats left out. */
        List<EventBatch> sorted() {
            List<EventBatch> sorted = new ArrayList<>(batches);
            sorted.sort(Comparator.comparing(EventBatch::sequence, Long::compareUnsigned));
            List<EventBatch> distinct = new ArrayList<>(sorted.size());
            for (EventBatch batch : sorted) {
                int last = distinct.size() - 1;
                if (last < 0 || distinct.get(last).sequence() != batch.sequence()) {
                    distinct.add(batch);
                } else if (distinct.get(last) instanceof EventBatch.Undecodable) {
                    distinct.set(last, batch);
                }
            }
            return distinct;
        }

        /** The whole content of the rank, if this is its whole history. */
        Optional<Contents> asContents(long firstSequence) {
            List<KvEvent> events = new ArrayList<>();
            long expected = firstSequence;
            double timestamp = 0;
            for (EventBatch batch : sorted()) {
                if (batch.sequence() != expected || !(batch instanceof EventBatch.Decoded decoded)) {
                    return Optional.empty();
                }
                events.addAll(decoded.events());
                timestamp = decoded.timestamp();
                expected++;
            }
            return expected == firstSequence || end == End.SILENT
                    ? Optional.empty()
                    : Optional.of(new Contents(events, expected - 1, timestamp));
        }
    }

    /**
     * All that the rank holds, as events to be applied to an empty rank.
     *
     * @param events every parent before its children
     * @param cursor unsigned number of the last batch that is contained
     * @param timestamp of that batch, or NaN if unknown
     */
    record Contents(List<KvEvent> events, long cursor, double timestamp) implements ReplayReply {
        public Contents {
            events = List.copyOf(events);
        }
    }
}

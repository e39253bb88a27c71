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
            List<EventBatch.Applicable> history = new ArrayList<>();
            for (EventBatch batch : sorted()) {
                if (batch.sequence() != firstSequence + history.size()
                        || !(batch instanceof EventBatch.Applicable applicable)) {
                    return Optional.empty();
                }
                history.add(applicable);
            }
            if (history.isEmpty() || end == End.SILENT) {
                return Optional.empty();
            }
            EventBatch.Applicable last = history.get(history.size() - 1);
            return Optional.of(
                    new Contents(c -> readAll(history, c), last.sequence(), last.timestamp(), Copies.COUNTED));
        }

        private static List<KvEvent> readAll(List<EventBatch.Applicable> history, EventBatch.Continuity start) {
            List<KvEvent> events = new ArrayList<>();
            EventBatch.Continuity continuity = start;
            for (EventBatch.Applicable batch : history) {
                events.addAll(batch.read(continuity));
                continuity = EventBatch.Continuity.CONTINUES;
            }
            return events;
        }
    }

    /** Whether contents show how many copies of a block there are. */
    enum Copies {
        /** They are the whole history: applying it counts them. */
        COUNTED,
        /** They name each held block: where copies are counted it has one, and that may be short. */
        UNKNOWN
    }

    /**
     * All that the rank holds, as events to be applied to an empty rank.
     *
     * @param reading gives the events, every parent before its children
     * @param cursor unsigned number of the last batch that is contained
     * @param timestamp of that batch, or NaN if unknown
     * @param copies whether they show copies
     */
    record Contents(EventBatch.Reading reading, long cursor, double timestamp, Copies copies) implements ReplayReply {
        public Contents {
            Objects.requireNonNull(reading, "reading");
            Objects.requireNonNull(copies, "copies");
        }

        /** A dump, which names each held block. */
        public Contents(List<KvEvent> events, long cursor, double timestamp) {
            this(known(events), cursor, timestamp, Copies.UNKNOWN);
        }

        private static EventBatch.Reading known(List<KvEvent> events) {
            List<KvEvent> copy = List.copyOf(events);
            return continuity -> copy;
        }
    }
}

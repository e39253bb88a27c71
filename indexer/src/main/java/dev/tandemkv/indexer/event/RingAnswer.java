package dev.tandemkv.indexer.event;

import dev.tandemkv.catalog.WorkerRank;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** What a worker answers a router that asks for its recent events. Immutable. */
public sealed interface RingAnswer
        permits RingAnswer.Events,
                RingAnswer.TreeDump,
                RingAnswer.TooNew,
                RingAnswer.InvalidRange,
                RingAnswer.TreeDumpFailed {

    /**
     * The events asked for.
     *
     * @param firstId unsigned id of the first one; the others follow without a gap
     * @param events at least one
     */
    record Events(long firstId, List<KvEvent> events) implements RingAnswer {
        public Events {
            events = List.copyOf(events);
        }

        /** Id of the last one: the asker's new cursor. */
        public long lastEventId() {
            return firstId + events.size() - 1;
        }
    }

    /**
     * The ring does not reach back so far: all that the worker holds.
     *
     * @param events for an empty index, with ids from 0 on of their own
     * @param lastEventId the newest event that is contained: the asker's new cursor; none if there was no event yet
     */
    record TreeDump(List<KvEvent> events, OptionalLong lastEventId) implements RingAnswer {
        public TreeDump {
            events = List.copyOf(events);
        }
    }

    /**
     * The asker is ahead of the worker.
     *
     * @param newest the newest event's id
     */
    record TooNew(long newest) implements RingAnswer {}

    /** The end lies before the start. */
    record InvalidRange() implements RingAnswer {}

    /**
     * The ring does not reach back so far, and the dump failed.
     *
     * @param cause in words
     */
    record TreeDumpFailed(String cause) implements RingAnswer {}

    /**
     * The answer as a feed takes it: each event a batch of its own, numbered by its id.
     *
     * @throws IllegalStateException if nothing can be learned from this answer
     */
    default ReplayReply asReplyFor(WorkerRank rank) {
        if (this instanceof Events events) {
            List<EventBatch> batches = new ArrayList<>();
            for (KvEvent event : events.events()) {
                batches.add(
                        new EventBatch.Decoded(rank, events.firstId() + batches.size(), Double.NaN, List.of(event)));
            }
            return new ReplayReply.Batches(batches, ReplayReply.End.MARKED);
        }
        if (this instanceof TreeDump dump && dump.lastEventId().isPresent()) {
            return new ReplayReply.Contents(dump.events(), dump.lastEventId().getAsLong(), Double.NaN);
        }
        if (this instanceof TooNew || this instanceof TreeDump) {
            return new ReplayReply.Batches(List.of(), ReplayReply.End.MARKED);
        }
        throw new IllegalStateException("answer: " + this + " (expected: events or a dump)");
    }
}

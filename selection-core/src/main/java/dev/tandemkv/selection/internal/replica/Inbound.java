package dev.tandemkv.selection.internal.replica;

import dev.tandemkv.affinity.AffinityReminder;
import dev.tandemkv.affinity.AffinityReplicaApplier;
import dev.tandemkv.affinity.AffinityReplicaRecord;
import dev.tandemkv.affinity.ReplicaApplyOutcome;
import dev.tandemkv.affinity.SessionAffinity;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.catalog.time.Ticker;
import dev.tandemkv.selection.host.RecordCodec;
import dev.tandemkv.selection.host.ReplicaObserver;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.replica.BookingEvent.Word;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads what peers tell and takes it to where it belongs. Thread-safe; nothing is changed by a message that cannot be read. */
final class Inbound {

    /** The field of a session record that only reminds of a binding: how long it lives there. */
    static final String REMAINING = "remaining_ms";

    private final long origin;
    private final RecordCodec codec;
    private final Ticker ticker;
    private final Function<PartitionKey, @Nullable Partition> partitions;
    private final Mirrors mirrors;
    private final Retelling retelling;
    private final ReplicaCounters counters;
    private final ReplicaObserver observer;
    /** As many as there are partitions, which are made by this core's own workers alone. */
    private final ConcurrentMap<Partition, Inbox> inboxes = new ConcurrentHashMap<>();

    private record Told(
            AffinityReplicaRecord record, @Nullable Long remainingMillis) {
        static Told fromFields(Map<String, @Nullable Object> fields) {
            return new Told(AffinityReplicaRecord.fromFields(fields), Fields.optional(fields, REMAINING, 40));
        }

        ReplicaApplyOutcome apply(AffinityReplicaApplier applier) {
            return remainingMillis == null
                    ? applier.apply(record)
                    : applier.apply(new AffinityReminder(record, Duration.ofMillis(remainingMillis)));
        }
    }

    Inbound(
            long origin,
            RecordCodec codec,
            Ticker ticker,
            Function<PartitionKey, @Nullable Partition> partitions,
            Mirrors mirrors,
            Retelling retelling,
            ReplicaCounters counters,
            ReplicaObserver observer) {
        this.origin = origin;
        this.codec = codec;
        this.ticker = ticker;
        this.partitions = partitions;
        this.mirrors = mirrors;
        this.retelling = retelling;
        this.counters = counters;
        this.observer = observer;
    }

    void booking(byte[] payload) {
        BookingEvent event = read(payload, BookingEvent::fromFields);
        if (event == null) {
            return;
        }
        if (event.origin() == origin) {
            counters.self.increment();
            return;
        }
        Partition in = partitions.apply(event.partition());
        if (in == null || in.blockSize() != event.blockSize()) {
            counters.unknown.increment();
            if (event.change() instanceof Word word) {
                // The partition may be made before the booking's beginning arrives.
                mirrors.remember(event.key(), word, ticker.read());
            }
        } else if (event.change() == Word.ASK) {
            retelling.asked(in, event.worker().workerId());
        } else {
            inboxes.computeIfAbsent(in, p -> new Inbox(p, mirrors, counters, observer))
                    .offer(event);
        }
    }

    void session(byte[] payload) {
        Told told = read(payload, Told::fromFields);
        if (told == null) {
            return;
        }
        Partition in = partitions.apply(told.record().partition());
        SessionAffinity table = in == null ? null : in.sessions();
        if (in == null || table == null) {
            counters.unknown.increment();
            return;
        }
        ReplicaApplyOutcome outcome = told.apply(new AffinityReplicaApplier(table, in::isLive));
        if (outcome == ReplicaApplyOutcome.IGNORED_SELF) {
            counters.self.increment();
        } else if (outcome == ReplicaApplyOutcome.IGNORED_TARGET) {
            counters.unknown.increment();
        }
    }

    private <T> @Nullable T read(byte[] payload, Function<Map<String, @Nullable Object>, T> reader) {
        try {
            return reader.apply(codec.decode(payload));
        } catch (IOException | SelectionException | IllegalArgumentException e) {
            counters.malformed.increment();
            return null;
        }
    }
}

package dev.tandemkv.selection.internal.replica;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one replica tells the others of one booking. On the wire the fields of {@code dynamo.slot-tracker.v1}, and beside them {@code
 * owner_id}, {@code attempt}, {@code host_only} and {@code incarnation}, each of which may be missing.
 *
 * @param partition where it is booked
 * @param blockSize tokens per block there, unsigned
 * @param key the booking; for {@link Word#ASK}, of no meaning
 * @param worker the booked rank
 * @param origin unsigned id of the replica that published this; the owner of the booking may be another
 * @param loraName the adapter, or {@code null}
 * @param change what happened
 */
record BookingEvent(
        PartitionKey partition,
        int blockSize,
        BookingKey key,
        WorkerRank worker,
        long origin,
        @Nullable String loraName,
        Change change) {

    /** Longer prompts are not mirrored. */
    private static final int MAX_BLOCKS = 1 << 20;

    private static final int MAX_TEXT = 1024;

    sealed interface Change {}

    /**
     * Booked.
     *
     * @param tokenSequence the blocks; must not be changed
     * @param prefill the prefill load that it carries now
     * @param hostOnly whether nobody may act on the booking by its id
     * @param incarnation the process of the worker, or {@code null} if unknown
     */
    record Add(
            long[] tokenSequence,
            @Nullable Integer expectedOutputTokens,
            PrefillHint prefill,
            boolean hostOnly,
            @Nullable String incarnation)
            implements Change {}

    /** What needs no more words than its name. */
    enum Word implements Change {
        PREFILL_COMPLETED("MarkPrefillCompleted"),
        FREE("Free"),
        /** Somebody made progress on it, by its id, elsewhere than where it is owned. */
        PROGRESS("Progress"),
        /** The worker is new to the publisher: who booked on it? */
        ASK("Ask");

        private final String wire;

        Word(String wire) {
            this.wire = wire;
        }
    }

    Map<String, @Nullable Object> toFields() {
        Map<String, @Nullable Object> event = new LinkedHashMap<>();
        event.put("request_id", key.requestId());
        event.put(
                "worker",
                Map.of(
                        "worker_id", Fields.unsigned(worker.workerId()),
                        "dp_rank", Integer.toUnsignedLong(worker.rank())));
        event.put("data", data());
        event.put("router_id", Fields.unsigned(origin));
        event.put("lora_name", loraName);
        event.put("owner_id", Fields.unsigned(key.owner()));
        event.put("attempt", Fields.unsigned(key.attempt()));
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("model_name", partition.modelName());
        fields.put("routing_group", partition.routingGroup());
        fields.put("block_size", Integer.toUnsignedLong(blockSize));
        fields.put("event", event);
        return fields;
    }

    private Object data() {
        if (!(change instanceof Add add)) {
            return ((Word) change).wire;
        }
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("token_sequence", add.tokenSequence());
        fields.put("track_prefill_tokens", add.prefill().tokens() > 0);
        Integer expected = add.expectedOutputTokens();
        fields.put("expected_output_tokens", expected == null ? null : Integer.toUnsignedLong(expected));
        fields.put("prefill_load_hint", add.prefill().tokens() == 0 ? null : hint(add.prefill()));
        if (add.hostOnly()) {
            fields.put("host_only", true);
        }
        if (add.incarnation() != null) {
            fields.put("incarnation", add.incarnation());
        }
        return Map.of("AddRequest", fields);
    }

    private static Map<String, @Nullable Object> hint(PrefillHint prefill) {
        Map<String, @Nullable Object> fields = new HashMap<>();
        fields.put("initial_effective_prefill_tokens", prefill.tokens());
        Duration expected = Duration.ofNanos(Math.max(0, prefill.expectedNanos()));
        fields.put(
                "expected_prefill_duration",
                prefill.expectedNanos() == PrefillHint.UNMODELLED
                        ? null
                        : Map.of("secs", expected.toSeconds(), "nanos", (long) expected.toNanosPart()));
        return fields;
    }

    /**
     * Reads what {@link #toFields} wrote. What names no owner is its publisher's.
     *
     * @throws BadRequestException naming the field that is missing or of the wrong type
     */
    static BookingEvent fromFields(Map<?, ?> fields) {
        Map<?, ?> event = Fields.map(fields, "event");
        Map<?, ?> worker = Fields.map(event, "worker");
        long publisher = Fields.unsigned(event, "router_id", 64);
        Long owner = Fields.optional(event, "owner_id", 64);
        Long attempt = Fields.optional(event, "attempt", 64);
        return new BookingEvent(
                new PartitionKey(
                        Fields.text(fields, "model_name", MAX_TEXT), Fields.text(fields, "routing_group", MAX_TEXT)),
                (int) Fields.unsigned(fields, "block_size", 32),
                new BookingKey(
                        owner == null ? publisher : owner,
                        Fields.text(event, "request_id", MAX_TEXT),
                        attempt == null ? 0 : attempt),
                new WorkerRank(Fields.unsigned(worker, "worker_id", 64), (int) Fields.unsigned(worker, "dp_rank", 32)),
                publisher,
                Fields.optionalText(event, "lora_name", MAX_TEXT),
                change(event.get("data")));
    }

    private static Change change(@Nullable Object data) {
        if (data instanceof Map<?, ?> named) {
            return add(Fields.map(named, "AddRequest"));
        }
        for (Word word : Word.values()) {
            if (word.wire.equals(data)) {
                return word;
            }
        }
        throw new BadRequestException("data", "unknown", "AddRequest, MarkPrefillCompleted, Free, Progress, Ask");
    }

    private static Add add(Map<?, ?> fields) {
        Long expected = Fields.optional(fields, "expected_output_tokens", 32);
        return new Add(
                Fields.sequence(fields, "token_sequence", MAX_BLOCKS),
                expected == null ? null : expected.intValue(),
                Fields.flag(fields, "track_prefill_tokens", true) ? prefill(fields) : PrefillHint.NONE,
                Fields.flag(fields, "host_only", false),
                Fields.optionalText(fields, "incarnation", MAX_TEXT));
    }

    private static PrefillHint prefill(Map<?, ?> add) {
        if (add.get("prefill_load_hint") == null) {
            return PrefillHint.NONE;
        }
        Map<?, ?> hint = Fields.map(add, "prefill_load_hint");
        long tokens = Fields.unsigned(hint, "initial_effective_prefill_tokens", 40);
        if (hint.get("expected_prefill_duration") == null) {
            return PrefillHint.unmodelled(tokens);
        }
        Map<?, ?> expected = Fields.map(hint, "expected_prefill_duration");
        long seconds = Fields.unsigned(expected, "secs", 32);
        long nanos = Fields.unsigned(expected, "nanos", 30);
        return tokens == 0
                ? PrefillHint.NONE
                : new PrefillHint(tokens, Duration.ofSeconds(seconds, nanos).toNanos());
    }
}

package dev.tandemkv.selection.internal.replica;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.internal.ledger.PrefillHint;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one replica tells the others of one booking.
 *
 * @param partition where it is booked
 * @param blockSize tokens per block there
 * @param key the booking; for {@link Ask}, of no meaning
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

    private static final int MAX_ID = 1024;

    sealed interface Change {}

    /** Booked. The array must not be changed. */
    record Add(long[] tokenSequence, @Nullable Integer expectedOutputTokens, PrefillHint prefill) implements Change {}

    record PrefillCompleted() implements Change {}

    record Free() implements Change {}

    /** The worker is new to the publisher: who booked on it? */
    record Ask() implements Change {}

    Map<String, @Nullable Object> toFields() {
        Map<String, @Nullable Object> event = new LinkedHashMap<>();
        event.put("request_id", key.requestId());
        event.put(
                "worker",
                Map.of("worker_id", unsigned(worker.workerId()), "dp_rank", Integer.toUnsignedLong(worker.rank())));
        event.put("data", data());
        event.put("router_id", unsigned(origin));
        event.put("owner_id", unsigned(key.owner()));
        event.put("attempt", unsigned(key.attempt()));
        event.put("lora_name", loraName);
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("model_name", partition.modelName());
        fields.put("routing_group", partition.routingGroup());
        fields.put("block_size", blockSize);
        fields.put("event", event);
        return fields;
    }

    private Object data() {
        if (change instanceof Add add) {
            List<Number> sequence = new ArrayList<>(add.tokenSequence().length);
            for (long hash : add.tokenSequence()) {
                sequence.add(unsigned(hash));
            }
            Map<String, @Nullable Object> fields = new LinkedHashMap<>();
            fields.put("token_sequence", sequence);
            fields.put("track_prefill_tokens", add.prefill().tokens() > 0);
            fields.put("expected_output_tokens", add.expectedOutputTokens());
            fields.put("prefill_tokens", add.prefill().tokens());
            fields.put("prefill_nanos", add.prefill().expectedNanos());
            return Map.of("AddRequest", fields);
        }
        return change instanceof PrefillCompleted ? "MarkPrefillCompleted" : change instanceof Free ? "Free" : "Ask";
    }

    /** @throws BadRequestException naming the field that is missing or of the wrong type */
    static BookingEvent fromFields(Map<?, ?> fields) {
        Map<?, ?> event = map(fields, "event");
        Map<?, ?> worker = map(event, "worker");
        Object lora = event.get("lora_name");
        String id = text(event, "request_id");
        int blockSize = (int) unsigned(fields, "block_size", 31);
        if (id.length() > MAX_ID) {
            throw new BadRequestException("request_id", id.length() + " characters", "<= " + MAX_ID);
        }
        return new BookingEvent(
                new PartitionKey(text(fields, "model_name"), text(fields, "routing_group")),
                blockSize,
                new BookingKey(unsigned(event, "owner_id", 64), id, unsigned(event, "attempt", 64)),
                new WorkerRank(unsigned(worker, "worker_id", 64), (int) unsigned(worker, "dp_rank", 32)),
                unsigned(event, "router_id", 64),
                lora == null ? null : text(event, "lora_name"),
                change(event.get("data")));
    }

    private static Change change(@Nullable Object data) {
        if (data instanceof Map<?, ?> named) {
            return add(map(named, "AddRequest"));
        }
        if ("MarkPrefillCompleted".equals(data)) {
            return new PrefillCompleted();
        }
        if ("Free".equals(data)) {
            return new Free();
        }
        if ("Ask".equals(data)) {
            return new Ask();
        }
        throw new BadRequestException("data", "unknown", "AddRequest, MarkPrefillCompleted, Free, Ask");
    }

    private static Add add(Map<?, ?> fields) {
        if (!(fields.get("token_sequence") instanceof List<?> sequence) || sequence.size() > MAX_BLOCKS) {
            throw new BadRequestException("token_sequence", "none or too long", "<= " + MAX_BLOCKS + " hashes");
        }
        long[] hashes = new long[sequence.size()];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = unsigned("token_sequence", sequence.get(i), 64);
        }
        Object expected = fields.get("expected_output_tokens");
        Object nanos = fields.get("prefill_nanos");
        boolean modelled = nanos instanceof Number number && number.longValue() >= 0;
        long tokens = unsigned(fields, "prefill_tokens", 40);
        return new Add(
                hashes,
                expected == null ? null : Integer.valueOf((int) unsigned(fields, "expected_output_tokens", 32)),
                modelled && tokens > 0
                        ? new PrefillHint(tokens, unsigned(fields, "prefill_nanos", 62))
                        : PrefillHint.unmodelled(tokens));
    }

    private static Number unsigned(long bits) {
        return bits >= 0 ? (Number) bits : new BigInteger(Long.toUnsignedString(bits));
    }

    private static Map<?, ?> map(Map<?, ?> fields, String name) {
        if (fields.get(name) instanceof Map<?, ?> inner) {
            return inner;
        }
        throw new BadRequestException(name, "missing or no map", "a map");
    }

    private static String text(Map<?, ?> fields, String name) {
        if (fields.get(name) instanceof String text) {
            return text;
        }
        throw new BadRequestException(name, "missing or no text", "text");
    }

    private static long unsigned(Map<?, ?> fields, String name, int bits) {
        return unsigned(name, fields.get(name), bits);
    }

    private static long unsigned(String name, @Nullable Object value, int bits) {
        if (value instanceof Long || value instanceof Integer || value instanceof BigInteger) {
            BigInteger number = new BigInteger(value.toString());
            if (number.signum() >= 0 && number.bitLength() <= bits) {
                return number.longValue();
            }
        }
        throw new BadRequestException(name, "missing or out of range", "an unsigned " + bits + "-bit number");
    }
}

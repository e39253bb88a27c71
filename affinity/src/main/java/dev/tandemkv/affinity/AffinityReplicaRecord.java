package dev.tandemkv.affinity;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What one replica tells the others about one session: a binding, or (without a target) that the binding ended.
 *
 * @param partition whose table it belongs to
 * @param sessionId the session; may travel on the wire, never into a log
 * @param target what the session is bound to, or {@code null} for a tombstone
 * @param version version of the binding; its writer is who made it, not who sends it
 * @param origin unsigned id of the replica that published this record
 */
public record AffinityReplicaRecord(
        PartitionKey partition,
        String sessionId,
        @Nullable AffinityTarget target,
        AffinityVersion version,
        long origin) {

    /** The topic that names this schema and its version. */
    public static final String TOPIC = "dynamo.session-affinity.v1";

    public AffinityReplicaRecord {
        Objects.requireNonNull(partition, "partition");
        Objects.requireNonNull(sessionId, "sessionId");
        Objects.requireNonNull(version, "version");
    }

    public boolean isTombstone() {
        return target == null;
    }

    /** Without the session id. */
    @Override
    public String toString() {
        return "AffinityReplicaRecord[" + partition + ", session " + SessionKeys.digest(sessionId) + ", "
                + (target == null ? "tombstone" : target) + ", " + version + ", origin "
                + Long.toUnsignedString(origin) + ']';
    }

    /**
     * The named fields of the wire schema, for whatever encoding (JSON, MessagePack). Unsigned numbers are {@link Long} where they fit
     * and {@link BigInteger} beyond.
     */
    public Map<String, @Nullable Object> toFields() {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("model_name", partition.modelName());
        fields.put("routing_group", partition.routingGroup());
        fields.put("session_id", sessionId);
        fields.put("worker_id", target == null ? null : unsigned(target.workerId()));
        fields.put(
                "dp_rank",
                target == null || target.dpRank() == null
                        ? null
                        : Long.valueOf(Integer.toUnsignedLong(target.dpRank())));
        fields.put("sequence", unsigned(version.sequence()));
        fields.put("writer_id", unsigned(version.writerId()));
        fields.put("origin", unsigned(origin));
        return fields;
    }

    /**
     * Reads what {@link #toFields()} wrote. A record without an origin, as peers of another make send it, counts as published by its
     * writer.
     *
     * @throws BadRequestException naming the field that is missing or of the wrong type
     */
    public static AffinityReplicaRecord fromFields(Map<String, ? extends @Nullable Object> fields) {
        long writer = unsignedField(fields, "writer_id", 64);
        Object worker = fields.get("worker_id");
        Object rank = fields.get("dp_rank");
        if (worker == null && rank != null) {
            throw new BadRequestException("dp_rank", rank, "none without worker_id");
        }
        AffinityTarget target = worker == null
                ? null
                : new AffinityTarget(
                        unsignedField(fields, "worker_id", 64),
                        rank == null ? null : Integer.valueOf((int) unsignedField(fields, "dp_rank", 32)));
        return new AffinityReplicaRecord(
                new PartitionKey(textField(fields, "model_name"), textField(fields, "routing_group")),
                textField(fields, "session_id"),
                target,
                new AffinityVersion(unsignedField(fields, "sequence", 64), writer),
                fields.get("origin") == null ? writer : unsignedField(fields, "origin", 64));
    }

    private static Number unsigned(long bits) {
        return bits >= 0 ? (Number) bits : new BigInteger(Long.toUnsignedString(bits));
    }

    private static String textField(Map<String, ? extends @Nullable Object> fields, String name) {
        if (fields.get(name) instanceof String text) {
            return text;
        }
        throw new BadRequestException(name, typeOf(fields.get(name)), "text");
    }

    private static long unsignedField(Map<String, ? extends @Nullable Object> fields, String name, int bits) {
        if (fields.get(name) instanceof Number number) {
            BigInteger value = integerOf(number);
            if (value != null && value.signum() >= 0 && value.bitLength() <= bits) {
                return value.longValue();
            }
        }
        throw new BadRequestException(name, typeOf(fields.get(name)), "an unsigned " + bits + "-bit number");
    }

    /** Integral types only: a decimal one may stand for a number with any number of digits, and what sends it is not a peer. */
    private static @Nullable BigInteger integerOf(Number number) {
        if (number instanceof BigInteger big) {
            return big;
        }
        boolean integral = number instanceof Long
                || number instanceof Integer
                || number instanceof Short
                || number instanceof Byte;
        return integral ? BigInteger.valueOf(number.longValue()) : null;
    }

    /** The value itself stays out of messages: it may be a session id. */
    private static String typeOf(@Nullable Object value) {
        return value == null ? "missing" : value.getClass().getSimpleName();
    }
}

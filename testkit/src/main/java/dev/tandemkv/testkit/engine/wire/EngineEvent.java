package dev.tandemkv.testkit.engine.wire;

import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What an engine says of its cache, before it becomes bytes. Immutable. */
public sealed interface EngineEvent permits EngineEvent.Stored, EngineEvent.Removed, EngineEvent.Cleared {

    /**
     * Blocks are held now.
     *
     * @param hashes one per block, in chain order
     * @param parent of the first block, or {@code null} at the root
     * @param tokens of all blocks
     * @param blockSize tokens per block
     * @param fields what else is said; a field that is not there is absent or nil on the wire, as the release does it
     */
    record Stored(
            List<EngineHash> hashes,
            @Nullable EngineHash parent,
            EngineTokens tokens,
            long blockSize,
            Map<EventField, Object> fields)
            implements EngineEvent {

        /** @throws IllegalArgumentException if a field's value is of another type than the field's */
        public Stored {
            hashes = List.copyOf(hashes);
            Objects.requireNonNull(tokens, "tokens");
            fields = checked(fields);
        }

        /** A store that says nothing else. */
        public static Stored of(
                @Nullable EngineHash parent, List<EngineHash> hashes, EngineTokens tokens, long blockSize) {
            return new Stored(hashes, parent, tokens, blockSize, Map.of());
        }

        /** The same store, with a field. */
        public Stored with(EventField field, Object value) {
            return new Stored(hashes, parent, tokens, blockSize, added(fields, field, value));
        }
    }

    /**
     * Blocks are no longer held.
     *
     * @param hashes in the engine's order
     * @param fields what else is said
     */
    record Removed(List<EngineHash> hashes, Map<EventField, Object> fields) implements EngineEvent {

        /** @throws IllegalArgumentException if a field's value is of another type than the field's */
        public Removed {
            hashes = List.copyOf(hashes);
            fields = checked(fields);
        }

        /** A removal that says nothing else. */
        public static Removed of(List<EngineHash> hashes) {
            return new Removed(hashes, Map.of());
        }

        /** The same removal, with a field. */
        public Removed with(EventField field, Object value) {
            return new Removed(hashes, added(fields, field, value));
        }
    }

    /** The cache is empty. */
    record Cleared() implements EngineEvent {}

    private static Map<EventField, Object> added(Map<EventField, Object> fields, EventField field, Object value) {
        Map<EventField, Object> more = new EnumMap<>(EventField.class);
        more.putAll(fields);
        more.put(field, value);
        return more;
    }

    private static Map<EventField, Object> checked(Map<EventField, Object> fields) {
        fields.forEach(EventField::check);
        Map<EventField, Object> copy = new EnumMap<>(EventField.class);
        copy.putAll(fields);
        return Collections.unmodifiableMap(copy);
    }
}

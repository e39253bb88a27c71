package dev.tandemkv.testkit.engine.wire;

import dev.tandemkv.testkit.engine.wire.WireDialect.Form;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes batches in one dialect. */
final class BatchEncoder {

    private final WireDialect dialect;
    private final FieldLayout stores;
    private final FieldLayout removals;

    BatchEncoder(WireDialect dialect) {
        this.dialect = dialect;
        this.stores = FieldLayout.ofStores(dialect);
        this.removals = FieldLayout.ofRemovals(dialect);
    }

    /** @throws IllegalArgumentException if an event says what the dialect has no field for */
    byte[] encode(double timestamp, List<EngineEvent> events, @Nullable Integer rank) {
        MessagePackWriter out = new MessagePackWriter();
        out.arrayHeader(3);
        out.real(timestamp);
        out.arrayHeader(events.size());
        for (EngineEvent event : events) {
            write(event, out);
        }
        out.value(rank == null ? null : (Long) Integer.toUnsignedLong(rank));
        return out.toByteArray();
    }

    private void write(EngineEvent event, MessagePackWriter out) {
        if (event instanceof EngineEvent.Stored stored) {
            Fields fields = new Fields(stores, stored.fields());
            header("BlockStored", 4, fields, out);
            core("block_hashes", out);
            hashes(stored.hashes(), out);
            core("parent_block_hash", out);
            if (stored.parent() == null) {
                out.value(null);
            } else {
                out.hash(stored.parent());
            }
            core("token_ids", out);
            stored.tokens().write(out);
            core("block_size", out);
            out.signed(stored.blockSize());
            fields.write(out);
        } else if (event instanceof EngineEvent.Removed removed) {
            Fields fields = new Fields(removals, removed.fields());
            header("BlockRemoved", 1, fields, out);
            core("block_hashes", out);
            hashes(removed.hashes(), out);
            fields.write(out);
        } else {
            header("AllBlocksCleared", 0, new Fields(FieldLayout.NONE, Map.of()), out);
        }
    }

    private void header(String tag, int core, Fields fields, MessagePackWriter out) {
        if (dialect.form() == Form.MAP) {
            out.mapHeader(1 + core + fields.count(), 1 + core + fields.layout.most());
            out.text("type");
        } else {
            out.arrayHeader(1 + core + fields.count());
        }
        out.text(tag);
    }

    private void core(String key, MessagePackWriter out) {
        if (dialect.form() == Form.MAP) {
            out.text(key);
        }
    }

    private static void hashes(List<EngineHash> hashes, MessagePackWriter out) {
        out.arrayHeader(hashes.size());
        hashes.forEach(out::hash);
    }

    /** What an event says beside the core, as the dialect lays it out. */
    private final class Fields {
        private final FieldLayout layout;
        private final Map<EventField, Object> set;

        Fields(FieldLayout layout, Map<EventField, Object> set) {
            this.layout = layout;
            this.set = set;
            for (EventField field : set.keySet()) {
                if (!layout.knows(field)) {
                    throw new IllegalArgumentException(field.wireName() + ": " + set.get(field) + " (expected: absent, "
                            + dialect + " has no such field)");
                }
            }
        }

        int count() {
            return layout.always().size()
                    + (int) layout.ifSet().stream().filter(set::containsKey).count();
        }

        void write(MessagePackWriter out) {
            for (EventField field : layout.always()) {
                write(field, out);
            }
            for (EventField field : layout.ifSet()) {
                if (set.containsKey(field)) {
                    write(field, out);
                }
            }
        }

        private void write(EventField field, MessagePackWriter out) {
            if (dialect.form() == Form.MAP) {
                out.text(field.wireName());
                out.value(set.get(field));
            } else if (field == EventField.CACHE_SALT) {
                // The positional form has the salt inside a map of metadata.
                out.mapHeader(1);
                out.text(field.wireName());
                out.value(set.get(field));
            } else {
                out.value(set.get(field));
            }
        }
    }
}

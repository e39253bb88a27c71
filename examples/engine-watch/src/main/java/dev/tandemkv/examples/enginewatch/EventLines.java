package dev.tandemkv.examples.enginewatch;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.KvEvent;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Neutral events as JSON, one a line: {@code {"worker", "rank", "sequence", "type", "tier", "ownership"?, "parent"?, "blocks": [[ext,
 * local], ...], "hashes": [ext, ...]}}. Ids, hashes and sequences are unsigned decimal texts. A store has blocks, a removal hashes; a clear
 * has neither, and its tier is the device's as in events that name no medium, though it empties all of them.
 */
final class EventLines {

    private static final JsonFactory JSON = new JsonFactory();

    private final PrintWriter out;
    private long printed;

    EventLines(PrintWriter out) {
        this.out = out;
    }

    /** How many there were. */
    long printed() {
        return printed;
    }

    void print(WorkerRank rank, long sequence, KvEvent event) {
        StringWriter line = new StringWriter();
        try (JsonGenerator json = JSON.createGenerator(line)) {
            json.writeStartObject();
            json.writeStringField("worker", Long.toUnsignedString(rank.workerId()));
            json.writeNumberField("rank", Integer.toUnsignedLong(rank.rank()));
            json.writeStringField("sequence", Long.toUnsignedString(sequence));
            if (event instanceof KvEvent.Stored stored) {
                kind("stored", stored.tier(), stored.ownership(), json);
                stored(stored, json);
            } else if (event instanceof KvEvent.Removed removed) {
                kind("removed", removed.tier(), removed.ownership(), json);
                json.writeArrayFieldStart("blocks");
                json.writeEndArray();
                hashes(removed.externalHashes(), json);
            } else {
                kind("cleared", Tier.DEVICE, null, json);
                json.writeArrayFieldStart("blocks");
                json.writeEndArray();
                hashes(new long[0], json);
            }
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        out.println(line);
        printed++;
    }

    private static void kind(String type, Tier tier, @Nullable String ownership, JsonGenerator json)
            throws IOException {
        json.writeStringField("type", type);
        json.writeStringField("tier", tier.name().toLowerCase(Locale.ROOT));
        if (ownership != null) {
            json.writeStringField("ownership", ownership);
        }
    }

    private static void stored(KvEvent.Stored event, JsonGenerator json) throws IOException {
        Long parent = event.parent();
        if (parent != null) {
            json.writeStringField("parent", Long.toUnsignedString(parent));
        }
        json.writeArrayFieldStart("blocks");
        for (int i = 0; i < event.blocks(); i++) {
            json.writeStartArray();
            json.writeString(Long.toUnsignedString(event.externalHashes()[i]));
            json.writeString(Long.toUnsignedString(event.localHashes()[i]));
            json.writeEndArray();
        }
        json.writeEndArray();
        hashes(new long[0], json);
    }

    private static void hashes(long[] hashes, JsonGenerator json) throws IOException {
        json.writeArrayFieldStart("hashes");
        for (long hash : hashes) {
            json.writeString(Long.toUnsignedString(hash));
        }
        json.writeEndArray();
    }
}

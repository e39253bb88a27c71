package dev.tandemkv.indexer.dump;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.RankContents;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.IndexFeed;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.event.RankCheckpoint;
import dev.tandemkv.indexer.event.RankStatus;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes a dump in our own form, rank by rank, as one JSON document. Not thread-safe. Every 64-bit value is an unsigned number.
 *
 * <pre>
 * {"format": "tandemkv-index", "version": 1, "partitions": [
 *   {"model", "group", "block_size", "ranks": [
 *     {"worker", "dp_rank", "duplicates", "full_reports", "cursor"?, "timestamp"?, "incarnation"?, "degraded"?: [reason, direction],
 *      "stores": [{"parent"?, "blocks": [ext, local, ...]}], "lacking": [ext, ...], "remembered": n,
 *      "counted": [ext, copies, ...], "lower_tiers": [{"tier", "ownership"?, "parent"?, "blocks": [ext, local, ...]}]}]}],
 *  "ranks": n, "blocks": n}
 * </pre>
 *
 * <p>{@code copies} is negative (minus the count) where the count may be short. The totals at the end show that nothing is missing.
 */
public final class DumpWriter implements AutoCloseable {

    static final String FORMAT = "tandemkv-index";
    static final int VERSION = 1;

    private final JsonGenerator json;
    private boolean inPartition;
    private boolean closed;
    private long ranks;
    private long blocks;

    private DumpWriter(JsonGenerator json) throws IOException {
        this.json = json;
        json.writeStartObject();
        json.writeStringField("format", FORMAT);
        json.writeNumberField("version", VERSION);
        json.writeArrayFieldStart("partitions");
    }

    /** Begins a dump. The stream stays open when the dump is closed. */
    public static DumpWriter to(OutputStream out) throws IOException {
        JsonGenerator json = new JsonFactory().createGenerator(out, JsonEncoding.UTF8);
        json.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
        json.disable(JsonGenerator.Feature.AUTO_CLOSE_JSON_CONTENT);
        return new DumpWriter(json);
    }

    /** Writes a partition with every rank of its feed, one rank at a time. Waits while another thread works on a rank. */
    public void partition(PartitionKey key, int blockSize, IndexFeed feed) throws IOException {
        begin(key, blockSize);
        for (RankStatus status : feed.ranks()) {
            Optional<RankCheckpoint> checkpoint =
                    feed.checkpoint(status.rank()).toCompletableFuture().join();
            if (checkpoint.isPresent()) {
                rank(checkpoint.get());
            }
        }
        end();
    }

    /** Writes a partition that is at hand as a value. */
    public void partition(IndexDump.Partition partition) throws IOException {
        begin(partition.key(), partition.blockSize());
        for (RankCheckpoint rank : partition.ranks()) {
            rank(rank);
        }
        end();
    }

    private void begin(PartitionKey key, int blockSize) throws IOException {
        if (inPartition || closed) {
            throw new IllegalStateException("dump: unfinished or closed (expected: between two partitions)");
        }
        inPartition = true;
        json.writeStartObject();
        json.writeStringField("model", key.modelName());
        json.writeStringField("group", key.routingGroup());
        json.writeNumberField("block_size", Integer.toUnsignedLong(blockSize));
        json.writeArrayFieldStart("ranks");
    }

    private void end() throws IOException {
        json.writeEndArray();
        json.writeEndObject();
        inPartition = false;
    }

    private void rank(RankCheckpoint checkpoint) throws IOException {
        RankContents contents = checkpoint.contents();
        json.writeStartObject();
        WorkerRank rank = contents.rank();
        unsigned("worker", rank.workerId());
        json.writeNumberField("dp_rank", Integer.toUnsignedLong(rank.rank()));
        traits(contents.traits());
        stream(checkpoint);
        json.writeArrayFieldStart("stores");
        for (KvEvent.Stored store : contents.stores()) {
            json.writeStartObject();
            chain(store);
        }
        json.writeEndArray();
        json.writeArrayFieldStart("lacking");
        for (long hash : contents.lacking()) {
            unsigned(hash);
        }
        json.writeEndArray();
        json.writeNumberField("remembered", contents.remembered());
        json.writeArrayFieldStart("counted");
        for (int i = 0; i < contents.counted().length; i++) {
            unsigned(contents.counted()[i]);
            json.writeNumber(contents.mayBeShortAt(i) ? -contents.copiesAt(i) : contents.copiesAt(i));
        }
        json.writeEndArray();
        json.writeArrayFieldStart("lower_tiers");
        for (KvEvent.Stored store : contents.lowerTiers()) {
            json.writeStartObject();
            json.writeStringField("tier", store.tier().name().toLowerCase(Locale.ROOT));
            text("ownership", store.ownership());
            chain(store);
        }
        json.writeEndArray();
        json.writeEndObject();
        ranks++;
    }

    private void traits(SourceTraits traits) throws IOException {
        json.writeStringField("duplicates", traits.duplicates().name().toLowerCase(Locale.ROOT));
        json.writeStringField("full_reports", traits.fullReports().name().toLowerCase(Locale.ROOT));
    }

    private void stream(RankCheckpoint checkpoint) throws IOException {
        if (checkpoint.cursor().isPresent()) {
            unsigned("cursor", checkpoint.cursor().getAsLong());
        }
        if (!Double.isNaN(checkpoint.timestamp())) {
            json.writeNumberField("timestamp", checkpoint.timestamp());
        }
        text("incarnation", checkpoint.incarnation());
        if (checkpoint.exactness() instanceof Exactness.Degraded degraded) {
            json.writeArrayFieldStart("degraded");
            json.writeString(degraded.reason().name().toLowerCase(Locale.ROOT));
            json.writeString(degraded.direction().name().toLowerCase(Locale.ROOT));
            json.writeEndArray();
        }
    }

    private void chain(KvEvent.Stored store) throws IOException {
        Long parent = store.parent();
        if (parent != null) {
            unsigned("parent", parent);
        }
        json.writeArrayFieldStart("blocks");
        for (int i = 0; i < store.blocks(); i++) {
            unsigned(store.externalHashes()[i]);
            unsigned(store.localHashes()[i]);
        }
        json.writeEndArray();
        json.writeEndObject();
        blocks += store.blocks();
    }

    private void text(String field, @Nullable String value) throws IOException {
        if (value != null) {
            json.writeStringField(field, value);
        }
    }

    private void unsigned(String field, long value) throws IOException {
        json.writeFieldName(field);
        unsigned(value);
    }

    private void unsigned(long value) throws IOException {
        if (value >= 0) {
            json.writeNumber(value);
        } else {
            json.writeNumber(Long.toUnsignedString(value));
        }
    }

    /** Ends the dump. A dump whose writing failed half-way stays visibly incomplete. Idempotent. */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        if (!inPartition) {
            json.writeEndArray();
            json.writeNumberField("ranks", ranks);
            json.writeNumberField("blocks", blocks);
            json.writeEndObject();
        }
        json.close();
    }
}

package dev.tandemkv.indexer.dump;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.PrefixIndex;
import dev.tandemkv.indexer.RankContents;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.KvEvent;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes a dump in the form that routers of this family exchange: per partition the events that rebuild it. Not thread-safe.
 *
 * <p>{@code {"model:group": {"block_size", "events": [{"worker_id", "storage_tier", "residency_domain", "event": {"event_id", "data",
 * "dp_rank"}}]}}}, hashes unsigned. Device events come first, rank by rank, then the lower tiers, fastest first. A chain with blocks that the
 * rank lacks is stored whole and followed by one removal of those. A lower-tier event of one store among several also has {@code
 * "ownership"}.
 */
public final class PeerDumpWriter implements AutoCloseable {

    private final JsonGenerator json;
    private long eventId;
    private boolean closed;

    private PeerDumpWriter(JsonGenerator json) throws IOException {
        this.json = json;
        json.writeStartObject();
    }

    /** Begins a dump. The stream stays open when the dump is closed. */
    public static PeerDumpWriter to(OutputStream out) throws IOException {
        JsonGenerator json = new JsonFactory().createGenerator(out, JsonEncoding.UTF8);
        json.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
        json.disable(JsonGenerator.Feature.AUTO_CLOSE_JSON_CONTENT);
        return new PeerDumpWriter(json);
    }

    /** Writes a partition with everything its index holds, one rank at a time. */
    public void partition(PartitionKey key, int blockSize, PrefixIndex index) throws IOException {
        partition(key, blockSize, index.ranks(), rank -> index.contents(rank).orElse(null));
    }

    /** Writes a partition whose contents are at hand, such as those of an approximate index; each rank once. */
    public void partition(PartitionKey key, int blockSize, List<RankContents> contents) throws IOException {
        Map<WorkerRank, RankContents> byRank = new HashMap<>();
        contents.forEach(each -> byRank.put(each.rank(), each));
        partition(key, blockSize, byRank.keySet(), byRank::get);
    }

    private void partition(
            PartitionKey key,
            int blockSize,
            Collection<WorkerRank> ranks,
            Function<WorkerRank, @Nullable RankContents> contentsOf)
            throws IOException {
        eventId = 0;
        json.writeObjectFieldStart(key.toString());
        json.writeNumberField("block_size", Integer.toUnsignedLong(blockSize));
        json.writeArrayFieldStart("events");
        Map<WorkerRank, List<KvEvent.Stored>> lowerTiers = new LinkedHashMap<>();
        for (WorkerRank rank : ranks.stream().sorted(WorkerRank.UNSIGNED_ORDER).toList()) {
            RankContents contents = contentsOf.apply(rank);
            if (contents != null) {
                device(contents);
                lowerTiers.put(rank, contents.lowerTiers());
            }
        }
        for (Tier tier : Tier.values()) {
            for (Map.Entry<WorkerRank, List<KvEvent.Stored>> ofRank : lowerTiers.entrySet()) {
                for (KvEvent.Stored store : ofRank.getValue()) {
                    if (store.tier() == tier) {
                        stored(ofRank.getKey(), store);
                    }
                }
            }
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private void device(RankContents contents) throws IOException {
        for (KvEvent.Stored store : contents.stores()) {
            stored(contents.rank(), store);
        }
        if (contents.lacking().length > 0) {
            // The memory of possible copies is ours alone; to others those blocks are simply not held.
            Set<Long> hashes = new LinkedHashSet<>();
            Arrays.stream(contents.lacking()).forEach(hashes::add);
            removed(contents.rank(), hashes);
        }
    }

    private void stored(WorkerRank rank, KvEvent.Stored store) throws IOException {
        begin(rank, store.tier(), store.ownership());
        json.writeObjectFieldStart("stored");
        Long parent = store.parent();
        json.writeFieldName("parent_hash");
        if (parent == null) {
            json.writeNull();
        } else {
            unsigned(parent);
        }
        json.writeNullField("start_position");
        json.writeArrayFieldStart("blocks");
        for (int i = 0; i < store.blocks(); i++) {
            json.writeStartObject();
            json.writeFieldName("block_hash");
            unsigned(store.externalHashes()[i]);
            json.writeFieldName("tokens_hash");
            unsigned(store.localHashes()[i]);
            json.writeNullField("mm_extra_info");
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
        end(rank);
    }

    private void removed(WorkerRank rank, Set<Long> hashes) throws IOException {
        begin(rank, Tier.DEVICE, null);
        json.writeObjectFieldStart("removed");
        json.writeArrayFieldStart("block_hashes");
        for (long hash : hashes) {
            unsigned(hash);
        }
        json.writeEndArray();
        json.writeEndObject();
        end(rank);
    }

    private void begin(WorkerRank rank, Tier tier, @Nullable String ownership) throws IOException {
        json.writeStartObject();
        json.writeFieldName("worker_id");
        unsigned(rank.workerId());
        json.writeStringField("storage_tier", tier.name().toLowerCase(Locale.ROOT));
        json.writeStringField("residency_domain", "worker");
        if (ownership != null) {
            json.writeStringField("ownership", ownership);
        }
        json.writeObjectFieldStart("event");
        json.writeNumberField("event_id", eventId++);
        json.writeObjectFieldStart("data");
    }

    private void end(WorkerRank rank) throws IOException {
        json.writeEndObject();
        json.writeNumberField("dp_rank", Integer.toUnsignedLong(rank.rank()));
        json.writeEndObject();
        json.writeEndObject();
    }

    private void unsigned(long value) throws IOException {
        if (value >= 0) {
            json.writeNumber(value);
        } else {
            json.writeNumber(Long.toUnsignedString(value));
        }
    }

    /** Ends the dump. Idempotent. */
    @Override
    public void close() throws IOException {
        if (!closed) {
            closed = true;
            json.writeEndObject();
            json.close();
        }
    }
}

package dev.tandemkv.indexer.dump;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.event.RankCheckpoint;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Reads the form that peers exchange: per partition a list of events. It says nothing of cursors, so a rank restored from it joins its stream
 * anywhere. An empty object, and a partition without events, are valid dumps. One instance per dump.
 */
final class PeerDumpReader {

    private final DumpLimits limits;
    private long blocks;
    private long ranks;

    PeerDumpReader(DumpLimits limits) {
        this.limits = limits;
    }

    IndexDump read(JsonCursor json, @Nullable String first) throws IOException {
        Map<PartitionKey, IndexDump.Partition> partitions = new LinkedHashMap<>();
        for (String name = first; name != null; name = json.field("dump")) {
            PartitionKey key = key(name);
            if (partitions.put(key, partition(json, key)) != null) {
                throw new MalformedDumpException(name, "twice", null);
            }
        }
        return new IndexDump(List.copyOf(partitions.values()));
    }

    /** The group has no colon; a model's name may. */
    private static PartitionKey key(String name) {
        int colon = name.lastIndexOf(':');
        if (colon < 0) {
            throw new MalformedDumpException(name, "no partition (expected: model:group)", null);
        }
        return new PartitionKey(name.substring(0, colon), name.substring(colon + 1));
    }

    private IndexDump.Partition partition(JsonCursor json, PartitionKey key) throws IOException {
        String where = key.toString();
        Integer blockSize = null;
        Map<WorkerRank, RecipeBuilder> recipes = new LinkedHashMap<>();
        json.beginObject(where);
        for (String field = json.field(where); field != null; field = json.field(where)) {
            switch (field) {
                case "block_size" -> blockSize = json.integer(field, 0, 0xffffffffL);
                case "events" -> {
                    json.beginArray("events");
                    while (json.nextObject("events")) {
                        event(json, recipes);
                    }
                }
                default -> json.skip();
            }
        }
        if (blockSize == null) {
            throw new MalformedDumpException(where + ".block_size", "missing", null);
        }
        List<RankCheckpoint> checkpoints = new ArrayList<>();
        for (RecipeBuilder recipe : recipes.values()) {
            checkpoints.add(new RankCheckpoint(
                    recipe.build(SourceTraits.DEFAULT, 0), Exactness.EXACT, OptionalLong.empty(), Double.NaN, null));
        }
        return new IndexDump.Partition(key, blockSize, checkpoints);
    }

    /** What an event's fields say, in whatever order they come. */
    private static final class Fields {
        @Nullable
        Long worker;

        int dpRank;
        Tier tier = Tier.DEVICE;

        @Nullable
        String ownership;

        @Nullable
        String kind;

        @Nullable
        Long parent;

        final LongList hashes = new LongList();
        final LongList locals = new LongList();
    }

    private void event(JsonCursor json, Map<WorkerRank, RecipeBuilder> recipes) throws IOException {
        Fields fields = new Fields();
        for (String field = json.field("event"); field != null; field = json.field("event")) {
            switch (field) {
                case "worker_id" -> fields.worker = json.unsigned(field);
                case "storage_tier" -> fields.tier = tier(json.text(field));
                case "residency_domain" -> requireWorkerDomain(json.textOrNull(field));
                case "ownership" -> fields.ownership = json.textOrNull(field);
                case "event" -> body(json, fields);
                default -> json.skip();
            }
        }
        Long worker = fields.worker;
        if (worker == null) {
            throw new MalformedDumpException("worker_id", "missing", null);
        }
        WorkerRank rank = new WorkerRank(worker, fields.dpRank);
        RecipeBuilder recipe = recipes.computeIfAbsent(rank, this::recipe);
        apply(recipe, fields);
    }

    private RecipeBuilder recipe(WorkerRank rank) {
        if (++ranks > limits.maxRanks()) {
            throw new MalformedDumpException("ranks", "more than " + limits.maxRanks(), null);
        }
        return new RecipeBuilder(rank);
    }

    /** Names as peers write them: {@code device}, {@code host_pinned}, also without the underscore. */
    private static Tier tier(String name) {
        String plain = name.replace("_", "").toLowerCase(Locale.ROOT);
        for (Tier tier : Tier.values()) {
            if (tier.name().replace("_", "").toLowerCase(Locale.ROOT).equals(plain)) {
                return tier;
            }
        }
        throw new MalformedDumpException("storage_tier", "unknown value", null);
    }

    private static void requireWorkerDomain(@Nullable String domain) {
        if (!"worker".equals(domain)) {
            throw new MalformedDumpException("residency_domain", "unsupported (expected: worker)", null);
        }
    }

    private void body(JsonCursor json, Fields fields) throws IOException {
        json.beginObject("event");
        for (String field = json.field("event"); field != null; field = json.field("event")) {
            switch (field) {
                case "dp_rank" -> fields.dpRank = json.integer(field, 0, 0xffffffffL);
                case "data" -> data(json, fields);
                default -> json.skip();
            }
        }
    }

    /** {@code {"stored": ...}}, {@code {"removed": ...}}, {@code {"cleared": ...}}, or the text {@code "cleared"}. */
    private void data(JsonCursor json, Fields fields) throws IOException {
        String text = json.textOrObject("data");
        if (text != null) {
            fields.kind = text;
            return;
        }
        for (String field = json.field("data"); field != null; field = json.field("data")) {
            fields.kind = field;
            switch (field) {
                case "stored" -> stored(json, fields);
                case "removed" -> removed(json, fields);
                default -> json.skip();
            }
        }
    }

    private void stored(JsonCursor json, Fields fields) throws IOException {
        json.beginObject("stored");
        for (String field = json.field("stored"); field != null; field = json.field("stored")) {
            switch (field) {
                case "parent_hash" -> fields.parent = json.unsignedOrNull(field);
                case "blocks" -> {
                    json.beginArray("blocks");
                    while (json.nextObject("blocks")) {
                        block(json, fields);
                    }
                }
                default -> json.skip();
            }
        }
    }

    private void block(JsonCursor json, Fields fields) throws IOException {
        Map<String, Long> hashes = new HashMap<>();
        for (String field = json.field("block"); field != null; field = json.field("block")) {
            switch (field) {
                case "block_hash", "tokens_hash" -> hashes.put(field, json.unsigned(field));
                default -> json.skip();
            }
        }
        Long ext = hashes.get("block_hash");
        Long local = hashes.get("tokens_hash");
        if (ext == null || local == null) {
            throw new MalformedDumpException("block", "a hash is missing", null);
        }
        if (++blocks > limits.maxBlocks()) {
            throw new MalformedDumpException("blocks", "more than " + limits.maxBlocks(), null);
        }
        fields.hashes.add(ext);
        fields.locals.add(local);
    }

    private static void removed(JsonCursor json, Fields fields) throws IOException {
        json.beginObject("removed");
        for (String field = json.field("removed"); field != null; field = json.field("removed")) {
            if (field.equals("block_hashes")) {
                json.longs(field, fields.hashes);
            } else {
                json.skip();
            }
        }
    }

    private static void apply(RecipeBuilder recipe, Fields fields) {
        long[] hashes = fields.hashes.toArray();
        String kind = fields.kind == null ? "" : fields.kind.toLowerCase(Locale.ROOT);
        switch (kind) {
            case "stored" -> store(recipe, fields, hashes, fields.locals.toArray());
            case "removed" ->
                recipe.removed(
                        new KvEvent.Removed(fields.tier, fields.ownership, KvEvent.ResidencyDomain.WORKER, hashes));
            case "cleared" -> recipe.clear();
            default -> throw new MalformedDumpException("data", "unknown kind of event", null);
        }
    }

    private static void store(RecipeBuilder recipe, Fields fields, long[] hashes, long[] locals) {
        if (fields.tier == Tier.DEVICE) {
            recipe.storeAgain(KvEvent.Stored.device(fields.parent, hashes, locals));
            return;
        }
        Long parent = fields.parent;
        for (int i = 0; i < hashes.length; i++) {
            recipe.lowerTier(new KvEvent.Stored(
                    fields.tier,
                    fields.ownership,
                    KvEvent.ResidencyDomain.WORKER,
                    parent,
                    new long[] {hashes[i]},
                    new long[] {locals[i]}));
            parent = hashes[i];
        }
    }
}

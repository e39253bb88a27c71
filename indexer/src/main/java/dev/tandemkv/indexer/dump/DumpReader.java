package dev.tandemkv.indexer.dump;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.DuplicatePolicy;
import dev.tandemkv.indexer.SourceTraits;
import dev.tandemkv.indexer.Tier;
import dev.tandemkv.indexer.event.Exactness;
import dev.tandemkv.indexer.event.KvEvent;
import dev.tandemkv.indexer.event.RankCheckpoint;
import java.io.CharConversionException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/** Reads our own form whole, and hands a document that begins otherwise to {@link PeerDumpReader}. One instance per dump. */
final class DumpReader {

    private final DumpLimits limits;
    private long ranks;
    private long blocks;

    DumpReader(DumpLimits limits) {
        this.limits = limits;
    }

    IndexDump read(InputStream in) throws IOException {
        try (JsonCursor json = new JsonCursor(in)) {
            json.beginObject("dump");
            String first = json.field("dump");
            IndexDump dump;
            if ("format".equals(first)) {
                dump = own(json);
            } else {
                dump = new PeerDumpReader(limits).read(json, first);
            }
            json.end();
            return dump;
        } catch (JsonEOFException e) {
            throw new MalformedDumpException("end", "cut short", e);
        } catch (JsonProcessingException | CharConversionException e) {
            throw new MalformedDumpException("json", "not JSON within the limits", e);
        }
    }

    private IndexDump own(JsonCursor json) throws IOException {
        if (!json.text("format").equals(DumpWriter.FORMAT)) {
            throw new MalformedDumpException("format", "unknown", null);
        }
        requireField(json, "version");
        long version = json.unsigned("version");
        if (version != DumpWriter.VERSION) {
            throw new MalformedDumpException(
                    "version", Long.toUnsignedString(version) + " (expected: " + DumpWriter.VERSION + ")", null);
        }
        requireField(json, "partitions");
        List<IndexDump.Partition> partitions = new ArrayList<>();
        Set<PartitionKey> keys = new HashSet<>();
        json.beginArray("partitions");
        while (json.nextObject("partitions")) {
            IndexDump.Partition partition = partition(json);
            if (!keys.add(partition.key())) {
                throw new MalformedDumpException("partitions", "one partition twice", null);
            }
            partitions.add(partition);
        }
        requireTotal(json, "ranks", ranks);
        requireTotal(json, "blocks", blocks);
        json.endObject("dump");
        return new IndexDump(partitions);
    }

    private static void requireField(JsonCursor json, String name) throws IOException {
        if (!name.equals(json.field(name))) {
            throw new MalformedDumpException(name, "missing", null);
        }
    }

    private static void requireTotal(JsonCursor json, String name, long counted) throws IOException {
        requireField(json, name);
        long total = json.unsigned(name);
        if (total != counted) {
            throw new MalformedDumpException(
                    name, counted + " read (expected: " + Long.toUnsignedString(total) + ")", null);
        }
    }

    private IndexDump.Partition partition(JsonCursor json) throws IOException {
        requireField(json, "model");
        String model = json.text("model");
        requireField(json, "group");
        PartitionKey key = new PartitionKey(model, json.text("group"));
        requireField(json, "block_size");
        int blockSize = json.integer("block_size", 0, 0xffffffffL);
        requireField(json, "ranks");
        List<RankCheckpoint> checkpoints = new ArrayList<>();
        Set<WorkerRank> seen = new HashSet<>();
        json.beginArray("ranks");
        while (json.nextObject("ranks")) {
            RankCheckpoint checkpoint = rank(json);
            if (!seen.add(checkpoint.contents().rank())) {
                throw new MalformedDumpException("rank " + checkpoint.contents().rank(), "twice", null);
            }
            if (++ranks > limits.maxRanks()) {
                throw new MalformedDumpException("ranks", "more than " + limits.maxRanks(), null);
            }
            checkpoints.add(checkpoint);
        }
        json.endObject("partition");
        return new IndexDump.Partition(key, blockSize, checkpoints);
    }

    private RankCheckpoint rank(JsonCursor json) throws IOException {
        requireField(json, "worker");
        long worker = json.unsigned("worker");
        requireField(json, "dp_rank");
        RecipeBuilder recipe = new RecipeBuilder(new WorkerRank(worker, json.integer("dp_rank", 0, 0xffffffffL)));
        DuplicatePolicy duplicates = DuplicatePolicy.IDEMPOTENT;
        SourceTraits.FullReports fullReports = SourceTraits.FullReports.POSSIBLE;
        OptionalLong cursor = OptionalLong.empty();
        double timestamp = Double.NaN;
        String incarnation = null;
        Exactness exactness = Exactness.EXACT;
        int remembered = 0;
        for (String field = json.field("rank"); field != null; field = json.field("rank")) {
            switch (field) {
                case "duplicates" -> duplicates = json.choice(field, DuplicatePolicy.class);
                case "full_reports" -> fullReports = json.choice(field, SourceTraits.FullReports.class);
                case "cursor" -> cursor = OptionalLong.of(json.unsigned(field));
                case "timestamp" -> timestamp = json.number(field);
                case "incarnation" -> incarnation = json.text(field);
                case "degraded" -> exactness = degraded(json);
                case "stores" -> stores(json, recipe);
                case "lacking" -> lacking(json, recipe);
                case "remembered" -> remembered = json.integer(field, 0, Integer.MAX_VALUE);
                case "counted" -> counted(json, recipe);
                case "lower_tiers" -> lowerTiers(json, recipe);
                default -> json.skip();
            }
        }
        return new RankCheckpoint(
                recipe.build(new SourceTraits(duplicates, fullReports), remembered),
                exactness,
                cursor,
                timestamp,
                incarnation);
    }

    private static Exactness degraded(JsonCursor json) throws IOException {
        json.beginArray("degraded");
        Exactness.Reason reason = json.choice("degraded", Exactness.Reason.class);
        Exactness.Direction direction = json.choice("degraded", Exactness.Direction.class);
        json.endArray("degraded");
        return new Exactness.Degraded(reason, direction);
    }

    private void stores(JsonCursor json, RecipeBuilder recipe) throws IOException {
        json.beginArray("stores");
        while (json.nextObject("stores")) {
            recipe.store(chain(json, Tier.DEVICE, "stores"));
        }
    }

    private void lowerTiers(JsonCursor json, RecipeBuilder recipe) throws IOException {
        json.beginArray("lower_tiers");
        while (json.nextObject("lower_tiers")) {
            requireField(json, "tier");
            Tier tier = json.choice("tier", Tier.class);
            KvEvent.Stored store = chain(json, tier, "lower_tiers");
            if (tier == Tier.DEVICE || store.blocks() != 1) {
                throw new MalformedDumpException("lower_tiers", "not one block of a lower tier", null);
            }
            recipe.lowerTier(store);
        }
    }

    private KvEvent.Stored chain(JsonCursor json, Tier tier, String where) throws IOException {
        Long parent = null;
        String ownership = null;
        LongList pairs = new LongList();
        for (String field = json.field(where); field != null; field = json.field(where)) {
            switch (field) {
                case "parent" -> parent = json.unsigned("parent");
                case "ownership" -> ownership = json.text("ownership");
                case "blocks" -> json.longs("blocks", pairs);
                default -> json.skip();
            }
        }
        if (pairs.size() % 2 != 0) {
            throw new MalformedDumpException(where, "an external hash without a local one", null);
        }
        blocks += pairs.size() / 2;
        if (blocks > limits.maxBlocks()) {
            throw new MalformedDumpException("blocks", "more than " + limits.maxBlocks(), null);
        }
        return new KvEvent.Stored(
                tier, ownership, KvEvent.ResidencyDomain.WORKER, parent, pairs.everySecond(0), pairs.everySecond(1));
    }

    private static void lacking(JsonCursor json, RecipeBuilder recipe) throws IOException {
        LongList hashes = new LongList();
        json.longs("lacking", hashes);
        for (long hash : hashes.toArray()) {
            recipe.lacks(hash);
        }
    }

    private static void counted(JsonCursor json, RecipeBuilder recipe) throws IOException {
        LongList pairs = new LongList();
        json.longs("counted", pairs);
        if (pairs.size() % 2 != 0) {
            throw new MalformedDumpException("counted", "a hash without a count", null);
        }
        long[] hashes = pairs.everySecond(0);
        long[] copies = pairs.everySecond(1);
        for (int i = 0; i < hashes.length; i++) {
            if (copies[i] != (int) copies[i]) {
                throw new MalformedDumpException("counted", "a count beyond 32 bits", null);
            }
            recipe.counts(hashes[i], (int) copies[i]);
        }
    }
}

package dev.tandemkv.adapters.http.internal.wire;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.SelectionException.Kind;
import dev.tandemkv.selection.OverlapReport;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.RankOverlap;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Requests and answers of the index service. Stateless. */
public final class IndexBodies {

    private IndexBodies() {}

    /**
     * One rank of one instance, to be followed or let go.
     *
     * @param instanceId unsigned
     * @param partition model and group
     * @param endpoint where it publishes; {@code null} when it is let go
     * @param replayEndpoint where it answers replays (an addition of ours), or {@code null}
     * @param blockSize unsigned; 0 when it is let go
     * @param rank unsigned
     */
    public record Instance(
            long instanceId,
            PartitionKey partition,
            @Nullable String endpoint,
            @Nullable String replayEndpoint,
            int blockSize,
            int rank) {}

    /** Which fields a body about an instance must have. */
    public enum Need {
        EVERYTHING,
        THE_ID
    }

    /** What is looked up. */
    public record Query(PartitionKey partition, Prompt prompt) {}

    public static JsonBody.Reader<Instance> instance(Need need) {
        return body -> {
            List<Long> id = new ArrayList<>();
            List<String> endpoint = new ArrayList<>();
            List<String> replay = new ArrayList<>();
            int[] figures = new int[2];
            Names names = new Names();
            boolean[] sized = new boolean[1];
            body.object("request body", name -> {
                switch (name) {
                    case "instance_id" -> id.add(body.bits64(name));
                    case "endpoint" -> endpoint.add(body.text(name));
                    case "replay_endpoint" -> {
                        if (!body.isNull()) {
                            replay.add(body.text(name));
                        }
                    }
                    case "block_size" -> {
                        figures[0] = body.unsigned32(name);
                        sized[0] = true;
                    }
                    case "dp_rank" -> figures[1] = body.isNull() ? 0 : body.unsigned32(name);
                    default -> {
                        return names.take(name, body);
                    }
                }
                return true;
            });
            require("instance_id", !id.isEmpty());
            require("endpoint", need == Need.THE_ID || !endpoint.isEmpty());
            require("block_size", need == Need.THE_ID || sized[0]);
            return new Instance(
                    id.get(0),
                    names.partition(),
                    endpoint.isEmpty() ? null : endpoint.get(0),
                    replay.isEmpty() ? null : replay.get(0),
                    figures[0],
                    figures[1]);
        };
    }

    private static void require(String field, boolean given) throws WireException {
        if (!given) {
            throw WireException.misshapen(field, "missing", "a value");
        }
    }

    /** Model and group, which every body may have. */
    private static final class Names {
        private String modelName = PartitionKey.DEFAULT_NAME;
        private String routingGroup = PartitionKey.DEFAULT_NAME;

        boolean take(String name, JsonBody body) throws IOException, WireException {
            switch (name) {
                case "model_name" -> modelName = body.text(name);
                case "routing_group" -> routingGroup = body.text(name);
                default -> {
                    return false;
                }
            }
            return true;
        }

        PartitionKey partition() {
            return new PartitionKey(modelName, routingGroup);
        }
    }

    /** A query by tokens. */
    public static Query byTokens(JsonBody body) throws IOException, WireException {
        Names names = new Names();
        PromptFields prompt = new PromptFields();
        List<String> given = new ArrayList<>();
        body.object("request body", name -> {
            if (name.equals("token_ids")) {
                given.add(name);
            }
            return prompt.take(name, body) || names.take(name, body);
        });
        require("token_ids", !given.isEmpty());
        return new Query(names.partition(), prompt.prompt());
    }

    /** A query by block hashes, which cover adapter and salt already. */
    public static Query byHashes(JsonBody body) throws IOException, WireException {
        Names names = new Names();
        List<long[]> hashes = new ArrayList<>();
        body.object("request body", name -> {
            switch (name) {
                case "block_hashes" -> hashes.add(body.bits64List(name));
                case "cache_salt" -> {
                    if (!body.isNull()) {
                        throw WireException.of(
                                400, Kind.BAD_REQUEST, "cache_salt: given (expected: hashes that cover it)");
                    }
                }
                default -> {
                    return names.take(name, body);
                }
            }
            return true;
        });
        require("block_hashes", !hashes.isEmpty());
        long[] keys = hashes.get(0);
        return new Query(names.partition(), Prompt.ofHashes(keys, keys, Math.max(1, keys.length)));
    }

    // ---- answers

    /**
     * What the ranks hold, in tokens, and (an addition of ours) in blocks of each tier: {@code tiers}, with the partition's {@code
     * block_size}. Ranks that hold nothing are left out.
     */
    public static byte[] found(OverlapReport report) {
        Map<String, Map<String, RankOverlap>> byInstance = new TreeMap<>();
        for (RankOverlap rank : report.workers()) {
            if (rank.deviceBlocks() + rank.hostExtensionBlocks() + rank.diskExtensionBlocks() > 0) {
                byInstance
                        .computeIfAbsent(Long.toUnsignedString(rank.worker().workerId()), id -> new TreeMap<>())
                        .put(Integer.toUnsignedString(rank.worker().rank()), rank);
            }
        }
        long size = Integer.toUnsignedLong(report.blockSize());
        return JsonText.of(json -> {
            json.writeStartObject();
            json.writeObjectFieldStart("scores");
            for (Map.Entry<String, Map<String, RankOverlap>> instance : byInstance.entrySet()) {
                json.writeObjectFieldStart(instance.getKey());
                for (Map.Entry<String, RankOverlap> rank : instance.getValue().entrySet()) {
                    json.writeNumberField(rank.getKey(), size * rank.getValue().deviceBlocks());
                }
                json.writeEndObject();
            }
            json.writeEndObject();
            json.writeArrayFieldStart("frequencies");
            json.writeEndArray();
            json.writeObjectFieldStart("instances");
            for (Map.Entry<String, Map<String, RankOverlap>> instance : byInstance.entrySet()) {
                json.writeFieldName(instance.getKey());
                Answers.overlap(json, size, instance.getValue());
            }
            json.writeEndObject();
            json.writeNumberField("block_size", size);
            json.writeObjectFieldStart("tiers");
            for (Map.Entry<String, Map<String, RankOverlap>> instance : byInstance.entrySet()) {
                json.writeObjectFieldStart(instance.getKey());
                for (Map.Entry<String, RankOverlap> rank : instance.getValue().entrySet()) {
                    json.writeArrayFieldStart(rank.getKey());
                    json.writeNumber(rank.getValue().deviceBlocks());
                    json.writeNumber(rank.getValue().hostExtensionBlocks());
                    json.writeNumber(rank.getValue().diskExtensionBlocks());
                    json.writeEndArray();
                }
                json.writeEndObject();
            }
            json.writeEndObject();
            json.writeEndObject();
        });
    }
}

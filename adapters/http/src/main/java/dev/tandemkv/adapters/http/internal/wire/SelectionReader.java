package dev.tandemkv.adapters.http.internal.wire;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.health.LadderRung;
import dev.tandemkv.selection.KvHint;
import dev.tandemkv.selection.Overlap;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.WorkerLoad;
import dev.tandemkv.selection.explain.Explanation;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the answer to a selection, as a client gets it. Read once. */
public final class SelectionReader {

    private static final long[] NO_HASHES = {};

    private @Nullable String selectionId;
    private String modelName = PartitionKey.DEFAULT_NAME;
    private String routingGroup = PartitionKey.DEFAULT_NAME;
    private @Nullable Long workerId;
    private @Nullable Integer dpRank;
    private @Nullable String endpoint;
    private int blockSize = 1;
    private Overlap overlap = Overlap.NONE;
    private long effectivePrefillTokens;
    private long potentialDecodeBlocks;
    private @Nullable Boolean decodeBusy;
    private @Nullable WorkerLoad workerLoad;
    private @Nullable KvHint kvHint;
    private long[] sequenceHashes = NO_HASHES;
    private boolean trackPrefillTokens;
    private @Nullable Double cachedTokens;
    private long waitedNanos;
    private @Nullable Explanation explanation;

    private SelectionReader() {}

    public static SelectionReader read(JsonBody body) throws IOException, WireException {
        SelectionReader read = new SelectionReader();
        body.object("answer", name -> read.take(name, body));
        if (read.workerId == null || read.dpRank == null) {
            throw WireException.misshapen("worker_id", "missing", "a worker and its rank");
        }
        return read;
    }

    private boolean take(String name, JsonBody body) throws IOException, WireException {
        switch (name) {
            case "selection_id" -> selectionId = body.textOrNull(name);
            case "sequence_hashes" -> sequenceHashes = body.bits64List(name);
            case "track_prefill_tokens" -> trackPrefillTokens = body.flag(name);
            case "model_name" -> modelName = body.text(name);
            case "routing_group" -> routingGroup = body.text(name);
            case "worker_id" -> workerId = body.bits64(name);
            case "dp_rank" -> dpRank = body.unsigned32(name);
            case "endpoint" -> endpoint = body.textOrNull(name);
            case "block_size" -> blockSize = body.unsigned32(name);
            case "overlap" -> overlap = readOverlap(body);
            case "effective_prefill_tokens" -> effectivePrefillTokens = body.unsigned64(name);
            case "potential_decode_blocks" -> potentialDecodeBlocks = body.unsigned64(name);
            case "decode_busy" -> decodeBusy = body.flagOrNull(name);
            case "worker_load" -> workerLoad = body.isNull() ? null : readLoad(body);
            case "kv_hint" -> kvHint = body.isNull() ? null : readHint(body);
            case "cached_tokens" -> cachedTokens = body.numberOrNull(name);
            case "waited_ns" -> waitedNanos = body.unsigned64(name);
            case "explanation" -> explanation = ExplanationBody.read(body);
            default -> {
                return false;
            }
        }
        return true;
    }

    private static Overlap readOverlap(JsonBody body) throws IOException, WireException {
        Map<String, Long> tiers = new HashMap<>();
        Map<Integer, Long> byRank = new HashMap<>();
        body.object("overlap", name -> {
            switch (name) {
                case "longest_matched", "gpu", "cpu", "disk" -> tiers.put(name, body.unsigned64("overlap." + name));
                case "dp" -> body.map("overlap.dp", (rank, at) -> byRank.put(rankOf(rank), body.unsigned64(at)));
                default -> {
                    return false;
                }
            }
            return true;
        });
        return new Overlap(
                tiers.getOrDefault("longest_matched", 0L),
                tiers.getOrDefault("gpu", 0L),
                tiers.getOrDefault("cpu", 0L),
                tiers.getOrDefault("disk", 0L),
                byRank);
    }

    private static int rankOf(String key) throws WireException {
        try {
            return Integer.parseUnsignedInt(key);
        } catch (NumberFormatException e) {
            throw WireException.malformed("overlap.dp: a key that is no rank (expected: unsigned 32-bit integers)");
        }
    }

    private static WorkerLoad readLoad(JsonBody body) throws IOException, WireException {
        Map<String, Long> figures = new HashMap<>();
        Map<String, Boolean> flags = new HashMap<>();
        body.object("worker_load", name -> {
            switch (name) {
                case "active_prefill_tokens", "prefill_token_capacity", "total_kv_blocks" -> {
                    if (!body.isNull()) {
                        figures.put(name, body.unsigned64("worker_load." + name));
                    }
                }
                case "prefill_busy" -> {
                    if (!body.isNull()) {
                        flags.put(name, body.flag("worker_load." + name));
                    }
                }
                default -> {
                    return false;
                }
            }
            return true;
        });
        return new WorkerLoad(
                figures.getOrDefault("active_prefill_tokens", 0L),
                figures.getOrDefault("prefill_token_capacity", 0L),
                figures.get("total_kv_blocks"),
                flags.get("prefill_busy"));
    }

    private static KvHint readHint(JsonBody body) throws IOException, WireException {
        Map<String, Long> figures = new HashMap<>();
        Map<String, String> texts = new HashMap<>();
        body.object("kv_hint", name -> {
            switch (name) {
                case "worker_id", "dp_rank", "blocks", "target_blocks", "last_block_hash" ->
                    figures.put(name, body.bits64("kv_hint." + name));
                case "control_endpoint" -> texts.put(name, body.text("kv_hint." + name));
                default -> {
                    return false;
                }
            }
            return true;
        });
        return new KvHint(
                new WorkerRank(
                        figures.getOrDefault("worker_id", 0L),
                        figures.getOrDefault("dp_rank", 0L).intValue()),
                texts.getOrDefault("control_endpoint", ""),
                figures.getOrDefault("blocks", 0L).intValue(),
                figures.getOrDefault("target_blocks", 0L).intValue(),
                figures.getOrDefault("last_block_hash", 0L));
    }

    public @Nullable String selectionId() {
        return selectionId;
    }

    /**
     * @param islTokens length of the prompt that was sent: only answers about bookings repeat it
     * @param rung what the service said of its knowledge of caches
     */
    public Selection selection(long islTokens, LadderRung rung) {
        if (workerId == null || dpRank == null) {
            throw new IllegalStateException("worker: missing (expected: refused when read)");
        }
        return Selection.builder(new PartitionKey(modelName, routingGroup), new WorkerRank(workerId, dpRank))
                .selectionId(selectionId)
                .endpoint(endpoint)
                .blockSize(blockSize)
                .overlap(overlap)
                .islTokens(islTokens)
                .cachedTokens(cachedTokens == null ? Math.max(0, islTokens - effectivePrefillTokens) : cachedTokens)
                .effectivePrefillTokens(effectivePrefillTokens)
                .potentialDecodeBlocks(potentialDecodeBlocks)
                .decodeBusy(decodeBusy)
                .workerLoad(workerLoad)
                .kvHint(kvHint)
                .sequenceHashes(sequenceHashes)
                .trackPrefillTokens(trackPrefillTokens)
                .rung(rung)
                .waitedNanos(waitedNanos)
                .explanation(explanation)
                .build();
    }
}

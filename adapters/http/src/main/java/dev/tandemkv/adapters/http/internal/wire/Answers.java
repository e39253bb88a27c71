package dev.tandemkv.adapters.http.internal.wire;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.selection.KvHint;
import dev.tandemkv.selection.Overlap;
import dev.tandemkv.selection.OverlapReport;
import dev.tandemkv.selection.PartitionLoads;
import dev.tandemkv.selection.RankLoad;
import dev.tandemkv.selection.RankOverlap;
import dev.tandemkv.selection.Reserved;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.WorkerLoad;
import dev.tandemkv.selection.explain.Explanation;
import dev.tandemkv.selection.host.SharedCache;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** The answers about choices and loads. Stateless. */
public final class Answers {

    private static final byte[] OK = JsonText.of(json -> {
        json.writeStartObject();
        json.writeStringField("status", "ok");
        json.writeEndObject();
    });

    /** Whether a choice was booked: then the answer tells what, enough to book it elsewhere. */
    public enum Form {
        CHOSEN,
        BOOKED
    }

    private Answers() {}

    /** {@code {"status":"ok"}}, not to be changed. */
    public static byte[] ok() {
        return OK;
    }

    /**
     * @param islExcess see {@link PromptFields#islExcess}
     * @param ranks ranks of the chosen worker, unsigned: each is told, also where it holds nothing
     */
    public static byte[] selection(Selection selection, Form form, long islExcess, List<Integer> ranks) {
        return JsonText.of(json -> {
            json.writeStartObject();
            if (selection.selectionId() != null) {
                json.writeStringField("selection_id", selection.selectionId());
            }
            if (form == Form.BOOKED) {
                json.writeFieldName("sequence_hashes");
                json.writeArray(selection.sequenceHashes(), 0, selection.sequenceHashes().length);
                JsonText.unsigned(json, "isl_tokens", selection.islTokens() + islExcess);
                json.writeBooleanField("track_prefill_tokens", selection.trackPrefillTokens());
            }
            partition(json, selection.partition());
            JsonText.unsigned(json, "worker_id", selection.worker().workerId());
            JsonText.unsigned(json, "dp_rank", selection.worker().rank());
            json.writeStringField("endpoint", selection.endpoint());
            JsonText.unsigned(json, "block_size", selection.blockSize());
            json.writeFieldName("overlap");
            overlap(json, selection.overlap(), ranks);
            JsonText.unsigned(json, "effective_prefill_tokens", selection.effectivePrefillTokens() + islExcess);
            json.writeNumberField("potential_decode_blocks", selection.potentialDecodeBlocks());
            if (selection.decodeBusy() != null) {
                json.writeBooleanField("decode_busy", selection.decodeBusy());
            }
            if (selection.workerLoad() != null) {
                json.writeFieldName("worker_load");
                load(json, selection.workerLoad());
            }
            if (selection.kvHint() != null) {
                json.writeFieldName("kv_hint");
                hint(json, selection.kvHint());
            }
            if (selection.explanation() != null) {
                explained(json, selection, selection.explanation());
            }
            json.writeEndObject();
        });
    }

    /** What only those get who ask for it: nothing of it is in the peer's answers. */
    private static void explained(JsonGenerator json, Selection selection, Explanation explanation) throws IOException {
        json.writeNumberField("cached_tokens", selection.cachedTokens());
        json.writeNumberField("waited_ns", selection.waitedNanos());
        json.writeFieldName("explanation");
        ExplanationBody.write(json, explanation);
    }

    private static void partition(JsonGenerator json, PartitionKey partition) throws IOException {
        json.writeStringField("model_name", partition.modelName());
        json.writeStringField("routing_group", partition.routingGroup());
    }

    private static void overlap(JsonGenerator json, Overlap overlap, List<Integer> ranks) throws IOException {
        json.writeStartObject();
        json.writeNumberField("longest_matched", overlap.longestMatched());
        json.writeNumberField("gpu", overlap.gpu());
        json.writeObjectFieldStart("dp");
        for (Integer rank : ranks) {
            json.writeNumberField(
                    Integer.toUnsignedString(rank), overlap.deviceByRank().getOrDefault(rank, 0L));
        }
        json.writeEndObject();
        json.writeNumberField("cpu", overlap.cpu());
        json.writeNumberField("disk", overlap.disk());
        json.writeEndObject();
    }

    private static void load(JsonGenerator json, WorkerLoad load) throws IOException {
        json.writeStartObject();
        json.writeNumberField("active_prefill_tokens", load.activePrefillTokens());
        JsonText.unsigned(json, "prefill_token_capacity", load.prefillTokenCapacity());
        if (load.totalKvBlocks() != null) {
            JsonText.unsigned(json, "total_kv_blocks", load.totalKvBlocks());
        }
        if (load.prefillBusy() != null) {
            json.writeBooleanField("prefill_busy", load.prefillBusy());
        }
        json.writeEndObject();
    }

    private static void hint(JsonGenerator json, KvHint hint) throws IOException {
        json.writeStartObject();
        JsonText.unsigned(json, "worker_id", hint.source().workerId());
        JsonText.unsigned(json, "dp_rank", hint.source().rank());
        json.writeStringField("control_endpoint", hint.controlEndpoint());
        json.writeNumberField("blocks", hint.blocks());
        json.writeNumberField("target_blocks", hint.targetBlocks());
        JsonText.unsigned(json, "last_block_hash", hint.lastBlockHash());
        json.writeEndObject();
    }

    public static byte[] reserved(Reserved reserved) {
        return JsonText.of(json -> {
            json.writeStartObject();
            json.writeStringField("selection_id", reserved.booking().selectionId());
            partition(json, reserved.partition());
            JsonText.unsigned(json, "worker_id", reserved.booking().worker().workerId());
            JsonText.unsigned(json, "dp_rank", reserved.booking().worker().rank());
            json.writeStringField("endpoint", reserved.endpoint());
            json.writeEndObject();
        });
    }

    public static byte[] loads(List<PartitionLoads> partitions) {
        return JsonText.of(json -> {
            json.writeStartArray();
            for (PartitionLoads each : partitions) {
                json.writeStartObject();
                partition(json, each.partition());
                json.writeFieldName("loads");
                ranks(json, each.loads());
                json.writeNumberField("pending_count", each.pendingRequests());
                json.writeNumberField("pending_isl_tokens", each.pendingIslTokens());
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }

    public static byte[] ranks(List<RankLoad> loads) {
        return JsonText.of(json -> ranks(json, loads));
    }

    private static void ranks(JsonGenerator json, List<RankLoad> loads) throws IOException {
        json.writeStartArray();
        for (RankLoad load : loads) {
            json.writeStartObject();
            JsonText.unsigned(json, "worker_id", load.worker().workerId());
            JsonText.unsigned(json, "dp_rank", load.worker().rank());
            json.writeNumberField("potential_prefill_tokens", load.potentialPrefillTokens());
            json.writeNumberField("potential_decode_blocks", load.potentialDecodeBlocks());
            json.writeNumberField("active_requests", load.activeRequests());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    public static byte[] overlaps(OverlapReport report) {
        return JsonText.of(json -> {
            json.writeStartObject();
            JsonText.unsigned(json, "block_size", report.blockSize());
            json.writeNumberField("num_blocks", report.blocks());
            json.writeArrayFieldStart("workers");
            for (RankOverlap rank : report.workers()) {
                overlap(json, rank);
            }
            json.writeEndArray();
            shared(json, report);
            json.writeEndObject();
        });
    }

    /** What one instance holds, as {@link #selection} tells of a worker: cumulated tokens, the most of any rank. */
    static void overlap(JsonGenerator json, long blockSize, Map<String, RankOverlap> ranks) throws IOException {
        long gpu = 0;
        long cpu = 0;
        long disk = 0;
        for (RankOverlap rank : ranks.values()) {
            long device = blockSize * rank.deviceBlocks();
            long host = device + blockSize * rank.hostExtensionBlocks();
            gpu = Math.max(gpu, device);
            cpu = Math.max(cpu, host);
            disk = Math.max(disk, host + blockSize * rank.diskExtensionBlocks());
        }
        json.writeStartObject();
        json.writeNumberField("longest_matched", disk);
        json.writeNumberField("gpu", gpu);
        json.writeObjectFieldStart("dp");
        for (Map.Entry<String, RankOverlap> rank : ranks.entrySet()) {
            json.writeNumberField(rank.getKey(), blockSize * rank.getValue().deviceBlocks());
        }
        json.writeEndObject();
        json.writeNumberField("cpu", cpu);
        json.writeNumberField("disk", disk);
        json.writeEndObject();
    }

    /** The tiers are told both as extensions and cumulated. */
    private static void overlap(JsonGenerator json, RankOverlap rank) throws IOException {
        int host = rank.deviceBlocks() + rank.hostExtensionBlocks();
        json.writeStartObject();
        JsonText.unsigned(json, "worker_id", rank.worker().workerId());
        JsonText.unsigned(json, "dp_rank", rank.worker().rank());
        json.writeNumberField("device_blocks", rank.deviceBlocks());
        json.writeNumberField("host_pinned_blocks", host);
        json.writeNumberField("disk_blocks", host + rank.diskExtensionBlocks());
        json.writeNumberField("host_pinned_extension_blocks", rank.hostExtensionBlocks());
        json.writeNumberField("disk_extension_blocks", rank.diskExtensionBlocks());
        if (rank.sharedBeyondDeviceBlocks() == null) {
            json.writeNullField("shared_beyond_device_blocks");
        } else {
            json.writeNumberField("shared_beyond_device_blocks", rank.sharedBeyondDeviceBlocks());
        }
        json.writeEndObject();
    }

    private static void shared(JsonGenerator json, OverlapReport report) throws IOException {
        OverlapReport.Shared shared = report.sharedCache();
        json.writeObjectFieldStart("shared_cache");
        json.writeBooleanField("enabled", shared != null);
        json.writeNumberField("total_hit_blocks", shared == null ? 0 : shared.totalHitBlocks());
        json.writeArrayFieldStart("ranges");
        if (shared != null) {
            for (SharedCache.Range range : shared.ranges()) {
                json.writeStartArray();
                json.writeNumber(range.from());
                json.writeNumber(range.to());
                json.writeEndArray();
            }
        }
        json.writeEndArray();
        if (shared != null && shared.failed()) {
            json.writeStringField("error", "the shared cache could not be asked");
        } else {
            json.writeNullField("error");
        }
        json.writeEndObject();
    }
}

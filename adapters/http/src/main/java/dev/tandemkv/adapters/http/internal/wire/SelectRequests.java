package dev.tandemkv.adapters.http.internal.wire;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SessionContext;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Writes the request for a selection, as a client sends it. Stateless. */
public final class SelectRequests {

    /** Which of the two routes it is for: a booking is never advisory. */
    public enum Form {
        CHOOSING,
        BOOKING
    }

    private SelectRequests() {}

    /** @param now reading of the ticker that the request's deadline is an instant of */
    public static byte[] of(SelectRequest request, Form form, long now) {
        return JsonText.of(json -> {
            json.writeStartObject();
            json.writeStringField("model_name", request.partition().modelName());
            json.writeStringField("routing_group", request.partition().routingGroup());
            text(json, "selection_id", request.selectionId());
            prompt(json, request.prompt());
            override(json, request.override());
            if (request.expectedOutputTokens() != null) {
                JsonText.unsigned(json, "expected_output_tokens", request.expectedOutputTokens());
            }
            json.writeNumberField("priority_jump", request.priorityJump());
            JsonText.unsigned(json, "strict_priority", request.strictPriority());
            session(json, request.session());
            targets(json, request);
            constraints(json, request);
            if (form == Form.CHOOSING && request.mode() == SelectRequest.Mode.ADVISORY) {
                json.writeBooleanField("advisory", true);
            }
            if (request.queueing() == SelectRequest.Queueing.REFUSED) {
                json.writeBooleanField("do_not_queue", true);
            }
            if (request.recording() == SelectRequest.Recording.SKIPPED) {
                json.writeBooleanField("record_routing", false);
            }
            if (request.explanation() == SelectRequest.Explain.EVERY_CANDIDATE) {
                json.writeBooleanField("explain", true);
            }
            if (request.deadlineTick() != null) {
                json.writeNumberField("deadline_ms", Deadlines.millis(request.deadlineTick(), now));
            }
            json.writeEndObject();
        });
    }

    private static void text(JsonGenerator json, String field, @Nullable String value) throws IOException {
        if (value != null) {
            json.writeStringField(field, value);
        }
    }

    private static void prompt(JsonGenerator json, Prompt prompt) throws IOException {
        if (prompt instanceof Prompt.Tokens tokens) {
            json.writeArrayFieldStart("token_ids");
            for (int id : tokens.tokenIds()) {
                json.writeNumber(Integer.toUnsignedLong(id));
            }
            json.writeEndArray();
            objects(json, tokens.multimodal());
        } else if (prompt instanceof Prompt.Hashes hashes) {
            json.writeFieldName("block_hashes");
            json.writeArray(hashes.blockHashes(), 0, hashes.blockHashes().length);
            json.writeFieldName("sequence_hashes");
            json.writeArray(hashes.sequenceHashes(), 0, hashes.sequenceHashes().length);
            JsonText.unsigned(json, "isl_tokens", hashes.islTokens());
        }
        text(json, "lora_name", prompt.loraName());
        text(json, "cache_salt", prompt.cacheNamespace());
        flag(json, "is_eagle", prompt.eagle());
    }

    private static void objects(JsonGenerator json, List<long[]> ofBlocks) throws IOException {
        if (ofBlocks.isEmpty()) {
            return;
        }
        json.writeArrayFieldStart("block_mm_infos");
        for (long[] hashes : ofBlocks) {
            json.writeStartObject();
            json.writeArrayFieldStart("mm_objects");
            for (long hash : hashes) {
                json.writeStartObject();
                JsonText.unsigned(json, "mm_hash", hash);
                json.writeArrayFieldStart("offsets");
                json.writeEndArray();
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void override(JsonGenerator json, RouterConfigOverride override) throws IOException {
        if (override.equals(RouterConfigOverride.NONE)) {
            return;
        }
        json.writeObjectFieldStart("router_config_override");
        number(json, "overlap_score_credit", override.overlapScoreCredit());
        number(json, "prefill_load_scale", override.prefillLoadScale());
        number(json, "router_temperature", override.routerTemperature());
        flag(json, "assume_kv_reuse", override.assumeKvReuse());
        flag(json, "track_prefill_tokens", override.trackPrefillTokens());
        number(json, "shared_cache_multiplier", override.sharedCacheMultiplier());
        json.writeEndObject();
    }

    private static void number(JsonGenerator json, String field, @Nullable Double value) throws IOException {
        if (value != null) {
            json.writeNumberField(field, value);
        }
    }

    private static void flag(JsonGenerator json, String field, @Nullable Boolean value) throws IOException {
        if (value != null) {
            json.writeBooleanField(field, value);
        }
    }

    private static void session(JsonGenerator json, @Nullable SessionContext session) throws IOException {
        if (session == null) {
            return;
        }
        json.writeObjectFieldStart("session_context");
        json.writeStringField("session_id", session.sessionId());
        text(json, "parent_session_id", session.parentSessionId());
        flag(json, "session_final", session.sessionFinal());
        if (session.inputTrigger() != null) {
            json.writeStringField("input_trigger", session.inputTrigger().name().toLowerCase(Locale.ROOT));
        }
        json.writeEndObject();
    }

    private static void targets(JsonGenerator json, SelectRequest request) throws IOException {
        if (request.affinityTarget() != null) {
            json.writeObjectFieldStart("affinity_target");
            JsonText.unsigned(json, "worker_id", request.affinityTarget().workerId());
            if (request.affinityTarget().dpRank() != null) {
                JsonText.unsigned(json, "dp_rank", request.affinityTarget().dpRank());
            }
            json.writeEndObject();
        }
        WorkerRank pin = request.pinnedWorker();
        if (pin != null) {
            json.writeObjectFieldStart("pinned_worker");
            JsonText.unsigned(json, "worker_id", pin.workerId());
            JsonText.unsigned(json, "dp_rank", pin.rank());
            json.writeEndObject();
            if (request.pinOrigin() == SelectRequest.PinOrigin.ROUTER) {
                json.writeStringField("pin_origin", "router");
            }
        }
        if (request.allowedWorkerIds() != null) {
            ids(json, "allowed_worker_ids", request.allowedWorkerIds());
        }
        if (!request.excludedWorkerIds().isEmpty()) {
            ids(json, "excluded_worker_ids", request.excludedWorkerIds());
        }
    }

    private static void ids(JsonGenerator json, String field, Set<Long> ids) throws IOException {
        json.writeArrayFieldStart(field);
        for (Long id : ids) {
            JsonText.unsigned(json, id);
        }
        json.writeEndArray();
    }

    private static void constraints(JsonGenerator json, SelectRequest request) throws IOException {
        json.writeObjectFieldStart("routing_constraints");
        json.writeArrayFieldStart("required_taints");
        for (String taint : request.constraints().requiredTaints()) {
            json.writeString(taint);
        }
        json.writeEndArray();
        json.writeObjectFieldStart("preferred_taints");
        for (Map.Entry<String, Double> taint :
                request.constraints().preferredTaints().entrySet()) {
            json.writeNumberField(taint.getKey(), taint.getValue());
        }
        json.writeEndObject();
        json.writeEndObject();
    }
}

package dev.tandemkv.adapters.http.internal.wire;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import dev.tandemkv.selection.Readiness;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The answers about workers. Defaults are not filled in: what was not given is null, and a few fields are left out then. Stateless. */
public final class WorkerAnswers {

    private WorkerAnswers() {}

    public static byte[] record(WorkerRecord record) {
        return JsonText.of(json -> record(json, record));
    }

    public static byte[] list(List<WorkerRecord> records) {
        return JsonText.of(json -> records(json, records));
    }

    public static byte[] readiness(Readiness readiness) {
        return JsonText.of(json -> {
            json.writeStartObject();
            json.writeBooleanField("ready", readiness.ready());
            json.writeNumberField("schedulable_workers", readiness.schedulableWorkers());
            json.writeFieldName("workers");
            records(json, readiness.workers());
            json.writeEndObject();
        });
    }

    private static void records(JsonGenerator json, List<WorkerRecord> records) throws IOException {
        json.writeStartArray();
        for (WorkerRecord record : records) {
            record(json, record);
        }
        json.writeEndArray();
    }

    private static void record(JsonGenerator json, WorkerRecord record) throws IOException {
        WorkerSpec worker = record.spec();
        json.writeStartObject();
        JsonText.unsigned(json, "worker_id", worker.workerId());
        json.writeStringField("model_name", worker.partition().modelName());
        json.writeStringField("routing_group", worker.partition().routingGroup());
        json.writeStringField("lifecycle", record.lifecycle().wireName());
        texts(json, "not_schedulable_reasons", record.notSchedulableReasons());
        json.writeStringField("endpoint", worker.endpoint());
        json.writeStringField("kv_events_endpoint", worker.kvEventsEndpoint());
        byRank(json, "kv_events_endpoints", worker.kvEventsEndpoints());
        json.writeStringField("replay_endpoint", worker.replayEndpoint());
        unsigned(json, "block_size", wide(worker.blockSize()));
        unsigned(json, "data_parallel_start_rank", wide(worker.dataParallelStartRank()));
        unsigned(json, "data_parallel_size", wide(worker.dataParallelSize()));
        unsigned(json, "max_num_batched_tokens", worker.maxNumBatchedTokens());
        unsigned(json, "total_kv_blocks", worker.totalKvBlocks());
        json.writeStringField("stable_routing_id", worker.stableRoutingId());
        json.writeFieldName("is_eagle");
        if (worker.isEagle() == null) {
            json.writeNull();
        } else {
            json.writeBoolean(worker.isEagle());
        }
        json.writeArrayFieldStart("taints");
        for (String taint : new TreeSet<>(worker.taints())) {
            json.writeString(taint);
        }
        json.writeEndArray();
        json.writeObjectFieldStart("topology_domains");
        for (Map.Entry<String, String> domain : new TreeMap<>(worker.topologyDomains()).entrySet()) {
            json.writeStringField(domain.getKey(), domain.getValue());
        }
        json.writeEndObject();
        transfer(json, worker);
        optional(json, "router_hint_worker_type", worker.routerHintWorkerType());
        byRank(json, "router_hint_source_control_endpoints", worker.routerHintSourceControlEndpoints());
        optional(json, "kv_event_source_mode", worker.kvEventSourceMode());
        optional(json, "incarnation", worker.incarnation());
        json.writeEndObject();
    }

    private static void transfer(JsonGenerator json, WorkerSpec worker) throws IOException {
        json.writeStringField("kv_transfer_domain", worker.kvTransferDomain());
        json.writeStringField(
                "kv_transfer_enforcement",
                worker.kvTransferEnforcement() == null
                        ? null
                        : worker.kvTransferEnforcement().wireName());
        Double weight = worker.kvTransferPreferredWeight();
        if (weight == null) {
            json.writeNullField("kv_transfer_preferred_weight");
        } else {
            json.writeNumberField("kv_transfer_preferred_weight", weight);
        }
    }

    private static @Nullable Long wide(@Nullable Integer unsigned) {
        return unsigned == null ? null : Integer.toUnsignedLong(unsigned);
    }

    private static void unsigned(JsonGenerator json, String field, @Nullable Long value) throws IOException {
        if (value == null) {
            json.writeNullField(field);
        } else {
            JsonText.unsigned(json, field, value);
        }
    }

    private static void optional(JsonGenerator json, String field, @Nullable String value) throws IOException {
        if (value != null) {
            json.writeStringField(field, value);
        }
    }

    private static void texts(JsonGenerator json, String field, List<String> texts) throws IOException {
        if (!texts.isEmpty()) {
            json.writeArrayFieldStart(field);
            for (String text : texts) {
                json.writeString(text);
            }
            json.writeEndArray();
        }
    }

    private static void byRank(JsonGenerator json, String field, Map<Integer, String> byRank) throws IOException {
        if (!byRank.isEmpty()) {
            json.writeObjectFieldStart(field);
            for (Map.Entry<Integer, String> rank : new TreeMap<>(byRank).entrySet()) {
                json.writeStringField(Integer.toUnsignedString(rank.getKey()), rank.getValue());
            }
            json.writeEndObject();
        }
    }
}

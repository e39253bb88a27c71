package dev.tandemkv.catalog.source;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.KvTransferEnforcement;
import dev.tandemkv.catalog.WorkerSpec;
import java.io.IOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads workers from JSON, strictly: an unknown field, a value of the wrong type and a field given twice are errors that name the place,
 * because a misspelt field would otherwise be a setting that silently does nothing. A {@code null} stands for an absent field.
 */
final class WorkersJson {

    private static final ObjectReader READER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
            .build()
            .readerFor(JsonNode.class);

    /** What a catalog adds to a record; a listing of records is a legal file. */
    private static final Set<String> ANSWER_ONLY = Set.of("lifecycle", "not_schedulable_reasons");

    private final String place;
    private final JsonNode node;
    private final Set<String> known = new LinkedHashSet<>(ANSWER_ONLY);

    private WorkersJson(String place, JsonNode node) {
        this.place = place;
        this.node = node;
    }

    /**
     * @throws IOException if the text is not JSON
     * @throws BadRequestException naming the place of a value that is not acceptable
     */
    static List<WorkerSpec> read(byte[] json) throws IOException {
        JsonNode root;
        try {
            root = READER.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IOException(e.getOriginalMessage() + " at " + lineAndColumn(e), e);
        }
        JsonNode workers = root == null ? null : root.get("workers");
        if (workers == null || !workers.isArray() || root.size() != 1) {
            throw new BadRequestException("workers", "missing", "one object with the one field workers, a list");
        }
        List<WorkerSpec> specs = new ArrayList<>();
        for (int i = 0; i < workers.size(); i++) {
            specs.add(new WorkersJson("workers[" + i + "]", workers.get(i)).worker());
        }
        return specs;
    }

    private static String lineAndColumn(JsonProcessingException e) {
        return e.getLocation() == null
                ? "an unknown place"
                : "line " + e.getLocation().getLineNr() + ", column "
                        + e.getLocation().getColumnNr();
    }

    private WorkerSpec worker() {
        if (!node.isObject()) {
            throw bad("", node.getNodeType(), "an object");
        }
        Long id = unsigned("worker_id", 64);
        if (id == null) {
            throw bad("worker_id", "missing", "an unsigned 64-bit number");
        }
        WorkerSpec.Builder worker = WorkerSpec.builder(id)
                .endpoint(text("endpoint"))
                .kvEventsEndpoint(text("kv_events_endpoint"))
                .kvEventsEndpoints(byRank("kv_events_endpoints"))
                .replayEndpoint(text("replay_endpoint"))
                .blockSize(unsigned32("block_size"))
                .dataParallelStartRank(unsigned32("data_parallel_start_rank"))
                .dataParallelSize(unsigned32("data_parallel_size"))
                .maxNumBatchedTokens(unsigned("max_num_batched_tokens", 64))
                .totalKvBlocks(unsigned("total_kv_blocks", 64))
                .stableRoutingId(text("stable_routing_id"))
                .isEagle(bool("is_eagle"))
                .taints(Set.copyOf(texts("taints")))
                .topologyDomains(textMap("topology_domains"))
                .kvTransferDomain(text("kv_transfer_domain"))
                .kvTransferEnforcement(enforcement())
                .kvTransferPreferredWeight(number("kv_transfer_preferred_weight"))
                .routerHintWorkerType(text("router_hint_worker_type"))
                .routerHintSourceControlEndpoints(byRank("router_hint_source_control_endpoints"))
                .kvEventSourceMode(text("kv_event_source_mode"))
                .incarnation(text("incarnation"));
        String model = text("model_name");
        String group = text("routing_group");
        if (model != null) {
            worker.modelName(model);
        }
        if (group != null) {
            worker.routingGroup(group);
        }
        refuseUnknownFields();
        try {
            return worker.build();
        } catch (BadRequestException e) {
            throw bad(e.field(), e.value(), e.expectation());
        }
    }

    private void refuseUnknownFields() {
        node.fieldNames().forEachRemaining(name -> {
            if (!known.contains(name)) {
                throw bad(name, "unknown field", "one of " + known);
            }
        });
    }

    private @Nullable JsonNode field(String name) {
        known.add(name);
        JsonNode value = node.get(name);
        return value == null || value.isNull() ? null : value;
    }

    private @Nullable String text(String name) {
        JsonNode value = field(name);
        return value == null ? null : asText(name, value);
    }

    private String asText(String name, JsonNode value) {
        if (!value.isTextual()) {
            throw bad(name, value, "text");
        }
        return value.textValue();
    }

    private @Nullable Boolean bool(String name) {
        JsonNode value = field(name);
        if (value != null && !value.isBoolean()) {
            throw bad(name, value, "true or false");
        }
        return value == null ? null : Boolean.valueOf(value.booleanValue());
    }

    private @Nullable Double number(String name) {
        JsonNode value = field(name);
        if (value != null && !value.isNumber()) {
            throw bad(name, value, "a number");
        }
        return value == null ? null : Double.valueOf(value.doubleValue());
    }

    private @Nullable Integer unsigned32(String name) {
        Long value = unsigned(name, 32);
        return value == null ? null : Integer.valueOf(value.intValue());
    }

    /** A number, or the same in decimal text, because many writers of JSON lose digits beyond 2^53. */
    private @Nullable Long unsigned(String name, int bits) {
        JsonNode value = field(name);
        if (value == null) {
            return null;
        }
        BigInteger number = value.isIntegralNumber()
                ? value.bigIntegerValue()
                : value.isTextual() && value.textValue().matches("[0-9]{1,20}")
                        ? new BigInteger(value.textValue())
                        : null;
        if (number == null || number.signum() < 0 || number.bitLength() > bits) {
            throw bad(name, value, "an unsigned " + bits + "-bit number");
        }
        return number.longValue();
    }

    private List<String> texts(String name) {
        JsonNode value = field(name);
        if (value != null && !value.isArray()) {
            throw bad(name, value, "a list of texts");
        }
        List<String> texts = new ArrayList<>();
        if (value != null) {
            value.forEach(item -> texts.add(asText(name, item)));
        }
        return texts;
    }

    private Map<String, String> textMap(String name) {
        JsonNode value = field(name);
        if (value != null && !value.isObject()) {
            throw bad(name, value, "an object of texts");
        }
        Map<String, String> map = new HashMap<>();
        if (value != null) {
            value.properties().forEach(e -> map.put(e.getKey(), asText(name, e.getValue())));
        }
        return map;
    }

    private Map<Integer, String> byRank(String name) {
        Map<Integer, String> byRank = new HashMap<>();
        textMap(name).forEach((rank, url) -> {
            try {
                byRank.put(Integer.parseUnsignedInt(rank), url);
            } catch (NumberFormatException e) {
                throw bad(name, rank, "an unsigned 32-bit rank as key");
            }
        });
        return byRank;
    }

    private @Nullable KvTransferEnforcement enforcement() {
        String name = text("kv_transfer_enforcement");
        if (name == null) {
            return null;
        }
        for (KvTransferEnforcement enforcement : KvTransferEnforcement.values()) {
            if (enforcement.wireName().equals(name)) {
                return enforcement;
            }
        }
        throw bad("kv_transfer_enforcement", name, "required or preferred");
    }

    private BadRequestException bad(String name, Object value, String expectation) {
        return new BadRequestException(name.isEmpty() ? place : place + '.' + name, value, expectation);
    }
}

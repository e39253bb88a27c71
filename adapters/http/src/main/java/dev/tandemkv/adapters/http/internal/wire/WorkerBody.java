package dev.tandemkv.adapters.http.internal.wire;

import dev.tandemkv.catalog.KvTransferEnforcement;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerLifecycle;
import dev.tandemkv.catalog.WorkerRecord;
import dev.tandemkv.catalog.WorkerSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The body of {@code POST /workers} and {@code PATCH /workers/{id}}: what it sets, field by field. Read once. */
public final class WorkerBody {

    /** What a field does that is null. */
    private enum Null {
        /** It is absent, but for model and group, which cannot be. */
        IS_ABSENT,
        /** It keeps what is registered. */
        KEEPS
    }

    private static final Set<String> KEY = Set.of("worker_id", "model_name", "routing_group");

    private static final Set<String> KNOWN = Set.of(
            "endpoint",
            "kv_events_endpoint",
            "kv_events_endpoints",
            "replay_endpoint",
            "block_size",
            "data_parallel_start_rank",
            "data_parallel_size",
            "max_num_batched_tokens",
            "total_kv_blocks",
            "stable_routing_id",
            "is_eagle",
            "taints",
            "topology_domains",
            "kv_transfer_domain",
            "kv_transfer_enforcement",
            "kv_transfer_preferred_weight",
            "router_hint_worker_type",
            "router_hint_source_control_endpoints",
            "kv_event_source_mode",
            "incarnation");

    private final Null ofNull;
    private @Nullable Long workerId;
    private @Nullable String modelName;
    private @Nullable String routingGroup;
    /** What each field that was given does to a worker, by name. */
    private final Map<String, Consumer<WorkerSpec.Builder>> changes = new LinkedHashMap<>();

    private WorkerBody(Null ofNull) {
        this.ofNull = ofNull;
    }

    public static WorkerBody readRegistration(JsonBody body) throws IOException, WireException {
        WorkerBody read = read(Null.IS_ABSENT, body);
        if (read.workerId == null) {
            throw WireException.misshapen("worker_id", "missing", "a 64-bit integer");
        }
        return read;
    }

    public static WorkerBody readPatch(JsonBody body) throws IOException, WireException {
        return read(Null.KEEPS, body);
    }

    /** A record, as a service answers it. */
    public static WorkerRecord readRecord(JsonBody body) throws IOException, WireException {
        WorkerBody read = new WorkerBody(Null.IS_ABSENT);
        List<WorkerLifecycle> lifecycle = new ArrayList<>();
        List<String> reasons = new ArrayList<>();
        body.object("worker", name -> {
            switch (name) {
                case "lifecycle" -> lifecycle.add(lifecycle(body.text(name)));
                case "not_schedulable_reasons" -> body.list(name, at -> reasons.add(body.text(at)));
                default -> {
                    return read.take(name, body);
                }
            }
            return true;
        });
        if (lifecycle.isEmpty() || read.workerId == null) {
            throw WireException.misshapen("worker_id, lifecycle", "missing", "a worker's record");
        }
        return new WorkerRecord(read.spec(), lifecycle.get(0), reasons);
    }

    /** Two states have one word on the wire; of a listed worker it means the one that a listing can have. */
    private static WorkerLifecycle lifecycle(String name) throws WireException {
        for (WorkerLifecycle state : WorkerLifecycle.values()) {
            if (state.wireName().equals(name)) {
                return state;
            }
        }
        throw WireException.misshapen("lifecycle", "unknown value", "a state of a worker");
    }

    private static WorkerBody read(Null ofNull, JsonBody body) throws IOException, WireException {
        WorkerBody read = new WorkerBody(ofNull);
        body.object("request body", name -> read.take(name, body));
        return read;
    }

    private boolean take(String name, JsonBody body) throws IOException, WireException {
        if (KEY.contains(name)) {
            if (ofNull == Null.IS_ABSENT || !body.isNull()) {
                takeKey(name, body);
            }
            return true;
        }
        if (body.isNull()) {
            return KNOWN.contains(name);
        }
        Consumer<WorkerSpec.Builder> change = change(name, body);
        if (change != null) {
            changes.put(name, change);
        }
        return change != null;
    }

    private void takeKey(String name, JsonBody body) throws IOException, WireException {
        switch (name) {
            case "worker_id" -> workerId = body.bits64(name);
            case "model_name" -> modelName = body.text(name);
            default -> routingGroup = body.text(name);
        }
    }

    /** What a value does to a worker; {@code null} if there is no such field. */
    private static @Nullable Consumer<WorkerSpec.Builder> change(String name, JsonBody body)
            throws IOException, WireException {
        return switch (name) {
            case "endpoint" -> text(name, body, WorkerSpec.Builder::endpoint);
            case "kv_events_endpoint" -> text(name, body, WorkerSpec.Builder::kvEventsEndpoint);
            case "kv_events_endpoints" -> ofRanks(name, body, WorkerSpec.Builder::kvEventsEndpoints);
            case "replay_endpoint" -> text(name, body, WorkerSpec.Builder::replayEndpoint);
            case "block_size" -> small(name, body, WorkerSpec.Builder::blockSize);
            case "data_parallel_start_rank" -> small(name, body, WorkerSpec.Builder::dataParallelStartRank);
            case "data_parallel_size" -> small(name, body, WorkerSpec.Builder::dataParallelSize);
            case "max_num_batched_tokens" -> large(name, body, WorkerSpec.Builder::maxNumBatchedTokens);
            case "total_kv_blocks" -> large(name, body, WorkerSpec.Builder::totalKvBlocks);
            case "stable_routing_id" -> text(name, body, WorkerSpec.Builder::stableRoutingId);
            case "is_eagle" -> {
                boolean eagle = body.flag(name);
                yield worker -> worker.isEagle(eagle);
            }
            case "taints" -> {
                Set<String> taints = new HashSet<>();
                body.list(name, at -> taints.add(body.text(at)));
                yield worker -> worker.taints(taints);
            }
            case "topology_domains" -> {
                Map<String, String> domains = texts(name, body);
                yield worker -> worker.topologyDomains(domains);
            }
            case "kv_transfer_domain" -> text(name, body, WorkerSpec.Builder::kvTransferDomain);
            case "kv_transfer_enforcement" -> {
                KvTransferEnforcement enforcement = enforcement(body.text(name));
                yield worker -> worker.kvTransferEnforcement(enforcement);
            }
            case "kv_transfer_preferred_weight" -> {
                double weight = body.number(name);
                yield worker -> worker.kvTransferPreferredWeight(weight);
            }
            case "router_hint_worker_type" -> text(name, body, WorkerSpec.Builder::routerHintWorkerType);
            case "router_hint_source_control_endpoints" ->
                ofRanks(name, body, WorkerSpec.Builder::routerHintSourceControlEndpoints);
            case "kv_event_source_mode" -> text(name, body, WorkerSpec.Builder::kvEventSourceMode);
            case "incarnation" -> text(name, body, WorkerSpec.Builder::incarnation);
            default -> null;
        };
    }

    /** A setter of the builder. */
    @FunctionalInterface
    private interface Setter<V> {
        WorkerSpec.Builder set(WorkerSpec.Builder worker, V value);
    }

    private static Consumer<WorkerSpec.Builder> text(String name, JsonBody body, Setter<@Nullable String> setter)
            throws IOException, WireException {
        String value = body.text(name);
        return worker -> setter.set(worker, value);
    }

    private static Consumer<WorkerSpec.Builder> small(String name, JsonBody body, Setter<@Nullable Integer> setter)
            throws IOException, WireException {
        Integer value = body.unsigned32(name);
        return worker -> setter.set(worker, value);
    }

    private static Consumer<WorkerSpec.Builder> large(String name, JsonBody body, Setter<@Nullable Long> setter)
            throws IOException, WireException {
        Long value = body.unsigned64(name);
        return worker -> setter.set(worker, value);
    }

    private static Consumer<WorkerSpec.Builder> ofRanks(String name, JsonBody body, Setter<Map<Integer, String>> setter)
            throws IOException, WireException {
        Map<Integer, String> byRank = new HashMap<>();
        body.map(name, (key, at) -> byRank.put(rank(name, key), body.text(at)));
        return worker -> setter.set(worker, byRank);
    }

    private static int rank(String place, String key) throws WireException {
        try {
            return Integer.parseUnsignedInt(key);
        } catch (NumberFormatException e) {
            throw WireException.malformed(place + ": a key that is no rank (expected: unsigned 32-bit integers)");
        }
    }

    private static Map<String, String> texts(String name, JsonBody body) throws IOException, WireException {
        Map<String, String> texts = new HashMap<>();
        body.map(name, (key, at) -> texts.put(key, body.text(at)));
        return texts;
    }

    private static KvTransferEnforcement enforcement(String name) throws WireException {
        for (KvTransferEnforcement enforcement : KvTransferEnforcement.values()) {
            if (enforcement.wireName().equals(name)) {
                return enforcement;
            }
        }
        throw WireException.misshapen("kv_transfer_enforcement", "unknown value", "required or preferred");
    }

    // ---- meaning

    /** @throws dev.tandemkv.catalog.BadRequestException if a value is one that no worker can have */
    public WorkerSpec spec() {
        if (workerId == null) {
            throw new IllegalStateException("worker_id: missing (expected: refused when read)");
        }
        WorkerSpec.Builder worker = WorkerSpec.builder(workerId)
                .modelName(modelName == null ? PartitionKey.DEFAULT_NAME : modelName)
                .routingGroup(routingGroup == null ? PartitionKey.DEFAULT_NAME : routingGroup);
        changes.values().forEach(change -> change.accept(worker));
        return worker.build();
    }

    /** @throws WireException if the patch names another worker, model or group than those registered */
    public void requireKeyOf(WorkerSpec registered) throws WireException {
        requireSame("worker_id", workerId, registered.workerId());
        requireSame("model_name", modelName, registered.partition().modelName());
        requireSame("routing_group", routingGroup, registered.partition().routingGroup());
    }

    private static void requireSame(String field, @Nullable Object given, Object registered) throws WireException {
        if (given != null && !given.equals(registered)) {
            throw WireException.misshapen(field, "another value", "as registered, or absent");
        }
    }

    /**
     * What the patch does.
     *
     * @param registered the worker before it: what it keeps of the ranks that a smaller worker lacks is left out
     */
    public UnaryOperator<WorkerSpec.Builder> patch(WorkerSpec registered) {
        return worker -> {
            if (changes.containsKey("data_parallel_size") || changes.containsKey("data_parallel_start_rank")) {
                WorkerSpec ranks = ranksAfter(registered);
                worker.kvEventsEndpoints(within(ranks, registered.kvEventsEndpoints()));
                worker.routerHintSourceControlEndpoints(within(ranks, registered.routerHintSourceControlEndpoints()));
            }
            changes.values().forEach(change -> change.accept(worker));
            return worker;
        };
    }

    private WorkerSpec ranksAfter(WorkerSpec registered) {
        WorkerSpec.Builder ranks = WorkerSpec.builder(registered.workerId())
                .dataParallelStartRank(registered.dataParallelStartRank())
                .dataParallelSize(registered.dataParallelSize());
        for (String field : List.of("data_parallel_start_rank", "data_parallel_size")) {
            Consumer<WorkerSpec.Builder> change = changes.get(field);
            if (change != null) {
                change.accept(ranks);
            }
        }
        return ranks.build();
    }

    private static Map<Integer, String> within(WorkerSpec ranks, Map<Integer, String> byRank) {
        Map<Integer, String> kept = new HashMap<>(byRank);
        kept.keySet().removeIf(rank -> !ranks.hasRank(rank));
        return kept;
    }
}

package dev.tandemkv.adapters.http.internal.wire;

import dev.tandemkv.affinity.AffinityTarget;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.RoutingConstraints;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.SessionContext;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The body of {@code /select}, {@code /select_and_reserve}, {@code /overlap_scores} and {@code /potential_loads}. Read once. */
public final class SelectBody {

    /** Which of the routes a body is for: they differ in the fields they know. */
    public enum Route {
        SELECT,
        RESERVE,
        READING
    }

    private final Route route;
    private final PromptFields prompt = new PromptFields();
    private String modelName = PartitionKey.DEFAULT_NAME;
    private String routingGroup = PartitionKey.DEFAULT_NAME;
    private @Nullable String selectionId;
    private RouterConfigOverride override = RouterConfigOverride.NONE;
    private @Nullable Integer expectedOutputTokens;
    private double priorityJump;
    private int strictPriority;
    private @Nullable String sessionId;
    private @Nullable SessionContext sessionContext;
    private @Nullable AffinityTarget affinityTarget;
    private @Nullable WorkerRank pinnedWorker;
    private SelectRequest.PinOrigin pinOrigin = SelectRequest.PinOrigin.CLIENT;
    private @Nullable Set<Long> allowedWorkerIds;
    private Set<Long> excludedWorkerIds = Set.of();
    private RoutingConstraints constraints = RoutingConstraints.NONE;
    private SelectRequest.Mode mode = SelectRequest.Mode.QUEUED;
    private SelectRequest.Queueing queueing = SelectRequest.Queueing.ALLOWED;
    private SelectRequest.Recording recording = SelectRequest.Recording.RECORDED;
    private SelectRequest.Explain explanation = SelectRequest.Explain.NOTHING;
    private @Nullable Long deadlineMillis;

    private SelectBody(Route route) {
        this.route = route;
    }

    public static JsonBody.Reader<SelectBody> reader(Route route) {
        return body -> {
            SelectBody read = new SelectBody(route);
            body.object("request body", name -> read.take(name, body));
            return read;
        };
    }

    private boolean take(String name, JsonBody body) throws IOException, WireException {
        switch (name) {
            case "model_name" -> modelName = body.text(name);
            case "routing_group" -> routingGroup = body.text(name);
            case "router_config_override" -> override = OverrideReader.read(body);
            default -> {
                return prompt.take(name, body) || (route != Route.READING && takeChoice(name, body));
            }
        }
        return true;
    }

    private boolean takeChoice(String name, JsonBody body) throws IOException, WireException {
        switch (name) {
            case "selection_id" -> selectionId = body.textOrNull(name);
            case "expected_output_tokens" -> expectedOutputTokens = body.unsigned32OrNull(name);
            case "priority_jump" -> priorityJump = body.isNull() ? 0 : body.number(name);
            case "strict_priority" -> strictPriority = body.isNull() ? 0 : body.unsigned32(name);
            case "session_id" -> sessionId = body.textOrNull(name);
            case "session_context" -> sessionContext = body.isNull() ? null : readSession(body);
            case "affinity_target" -> affinityTarget = body.isNull() ? null : readTarget(body);
            case "pinned_worker" -> pinnedWorker = body.isNull() ? null : readPin(body);
            case "pin_origin" -> pinOrigin = readOrigin(body);
            case "allowed_worker_ids" -> allowedWorkerIds = body.isNull() ? null : readIds(name, body);
            case "excluded_worker_ids" -> excludedWorkerIds = body.isNull() ? Set.of() : readIds(name, body);
            case "routing_constraints" -> constraints = readConstraints(body);
            case "advisory" -> readAdvisory(name, body);
            case "do_not_queue" ->
                queueing = body.flag(name) ? SelectRequest.Queueing.REFUSED : SelectRequest.Queueing.ALLOWED;
            case "record_routing" ->
                recording = body.flag(name) ? SelectRequest.Recording.RECORDED : SelectRequest.Recording.SKIPPED;
            case "explain" ->
                explanation = body.flag(name) ? SelectRequest.Explain.EVERY_CANDIDATE : SelectRequest.Explain.NOTHING;
            case "deadline_ms" -> deadlineMillis = body.unsigned64OrNull(name);
            default -> {
                return false;
            }
        }
        return true;
    }

    private void readAdvisory(String name, JsonBody body) throws WireException {
        boolean advisory = body.flag(name);
        if (advisory && route == Route.RESERVE) {
            throw WireException.misshapen(name, "true", "false, where the choice is booked");
        }
        mode = advisory ? SelectRequest.Mode.ADVISORY : SelectRequest.Mode.QUEUED;
    }

    private static SessionContext readSession(JsonBody body) throws IOException, WireException {
        String place = "session_context";
        Map<String, String> texts = new HashMap<>();
        Map<String, Boolean> flags = new HashMap<>();
        body.object(place, name -> {
            switch (name) {
                case "session_id" -> texts.put(name, body.text(place + '.' + name));
                case "parent_session_id", "input_trigger" -> {
                    if (!body.isNull()) {
                        texts.put(name, body.text(place + '.' + name));
                    }
                }
                case "session_final" -> {
                    if (!body.isNull()) {
                        flags.put(name, body.flag(place + '.' + name));
                    }
                }
                default -> {
                    return false;
                }
            }
            return true;
        });
        String id = texts.get("session_id");
        if (id == null) {
            throw WireException.misshapen(place + ".session_id", "missing", "a string");
        }
        return new SessionContext(
                id, texts.get("parent_session_id"), flags.get("session_final"), trigger(texts.get("input_trigger")));
    }

    private static SessionContext.@Nullable InputTrigger trigger(@Nullable String name) throws WireException {
        if (name == null) {
            return null;
        }
        for (SessionContext.InputTrigger trigger : SessionContext.InputTrigger.values()) {
            if (trigger.name().toLowerCase(Locale.ROOT).equals(name)) {
                return trigger;
            }
        }
        throw WireException.misshapen(
                "session_context.input_trigger", "unknown value", "user_message, tool_result or other");
    }

    private static AffinityTarget readTarget(JsonBody body) throws IOException, WireException {
        Ranked ranked = Ranked.read("affinity_target", body);
        return new AffinityTarget(ranked.workerId(), ranked.dpRank());
    }

    private static WorkerRank readPin(JsonBody body) throws IOException, WireException {
        Ranked ranked = Ranked.read("pinned_worker", body);
        if (ranked.dpRank() == null) {
            throw WireException.misshapen("pinned_worker.dp_rank", "missing", "an unsigned 32-bit integer");
        }
        return new WorkerRank(ranked.workerId(), ranked.dpRank());
    }

    private static SelectRequest.PinOrigin readOrigin(JsonBody body) throws IOException, WireException {
        String name = body.textOrNull("pin_origin");
        if (name == null || name.equals("client")) {
            return SelectRequest.PinOrigin.CLIENT;
        }
        if (name.equals("router")) {
            return SelectRequest.PinOrigin.ROUTER;
        }
        throw WireException.misshapen("pin_origin", "unknown value", "client or router");
    }

    private static Set<Long> readIds(String place, JsonBody body) throws IOException, WireException {
        Set<Long> ids = new HashSet<>();
        body.list(place, at -> ids.add(body.bits64(at)));
        return ids;
    }

    private static RoutingConstraints readConstraints(JsonBody body) throws IOException, WireException {
        String place = "routing_constraints";
        Set<String> required = new HashSet<>();
        Map<String, Double> preferred = new HashMap<>();
        body.object(place, name -> {
            switch (name) {
                case "required_taints" -> body.list(place + '.' + name, at -> required.add(body.text(at)));
                case "preferred_taints" ->
                    body.map(place + '.' + name, (taint, at) -> preferred.put(taint, (double) (float) body.number(at)));
                default -> {
                    return false;
                }
            }
            return true;
        });
        return new RoutingConstraints(required, preferred);
    }

    // ---- meaning

    public PartitionKey partition() {
        return new PartitionKey(modelName, routingGroup);
    }

    public @Nullable String selectionId() {
        return selectionId;
    }

    public PromptFields promptFields() {
        return prompt;
    }

    /**
     * @param policyClass queue class or family that the header names, or {@code null}
     * @param now reading of the core's ticker, from which the deadline counts
     * @throws dev.tandemkv.catalog.BadRequestException if the prompt is none
     */
    public SelectRequest request(@Nullable String policyClass, long now) {
        Prompt meant = prompt.prompt();
        SessionContext session =
                sessionContext == null && sessionId != null ? SessionContext.of(sessionId) : sessionContext;
        SelectRequest.Builder request = SelectRequest.builder(meant)
                .partition(partition())
                .selectionId(selectionId)
                .override(override)
                .expectedOutputTokens(expectedOutputTokens)
                .priorityJump(priorityJump)
                .strictPriority(strictPriority)
                .session(session)
                .affinityTarget(affinityTarget)
                .allowedWorkerIds(allowedWorkerIds)
                .excludedWorkerIds(excludedWorkerIds)
                .constraints(constraints)
                .mode(mode)
                .queueing(queueing)
                .policyClass(policyClass)
                .deadlineTick(deadlineMillis == null ? null : Deadlines.tick(deadlineMillis, now))
                .recording(recording)
                .explanation(explanation);
        if (pinnedWorker != null && pinOrigin == SelectRequest.PinOrigin.ROUTER) {
            request.pinnedByRouter(pinnedWorker);
        } else {
            request.pinnedWorker(pinnedWorker);
        }
        return request.build();
    }
}

package dev.tandemkv.selection.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.selection.config.WorkerSelection.Role;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads a policy profile: queue classes for the root and for single models, and worker selection. Strict as {@link SelectionConfigReader}.
 *
 * <pre>{@code
 * {"default_policy_family": "chat",
 *  "cache_buckets": [{"name": "short", "from_tokens": 0}, {"name": "long", "from_tokens": 4096}],
 *  "classes": [{"name": "chat-short", "policy_family": "chat", "cache_bucket": "short", "quantum": 2048,
 *               "prefill_busy_threshold_frac": 0.5}, ...],
 *  "models": {"some-model": {"classes": [...], ...}},
 *  "worker_selection": {"prefill": "mine", "instances": [{"name": "mine", "type": "lmetric", "parameters": {}}]}}
 * }</pre>
 */
final class PolicyProfileReader {

    private static final Set<String> PROFILE_FIELDS =
            Set.of("default_policy_family", "cache_buckets", "uncached_isl_buckets", "classes", "policy_classes");

    private PolicyProfileReader() {}

    static void read(JsonNode tree, SelectionConfigBuilder into) {
        SelectionConfigReader.requireObject("router_policy_config", tree);
        QueueProfile root = tree.has("classes") || tree.has("policy_classes") ? profile("", tree) : null;
        Map<String, QueueProfile> byModel = new HashMap<>();
        for (Map.Entry<String, JsonNode> field : tree.properties()) {
            switch (field.getKey()) {
                case "models" -> models(field.getValue(), byModel);
                case "worker_selection" -> into.workerSelection(workerSelection(field.getValue()));
                default -> {
                    if (!PROFILE_FIELDS.contains(field.getKey()) || root == null) {
                        throw new BadRequestException(
                                "router_policy_config." + field.getKey(),
                                field.getValue(),
                                "classes with their buckets and family, models, worker_selection");
                    }
                }
            }
        }
        into.queueProfiles(new QueueProfiles(root, byModel));
    }

    private static void models(JsonNode node, Map<String, QueueProfile> into) {
        SelectionConfigReader.requireObject("models", node);
        for (Map.Entry<String, JsonNode> model : node.properties()) {
            SelectionConfigReader.requireObject("models." + model.getKey(), model.getValue());
            requireKnown("models." + model.getKey() + ".", model.getValue(), PROFILE_FIELDS);
            into.put(model.getKey(), profile("models." + model.getKey() + ".", model.getValue()));
        }
    }

    private static QueueProfile profile(String path, JsonNode node) {
        List<QueueProfile.Bucket> buckets = new ArrayList<>();
        String bucketList = named(path, node, "cache_buckets", "uncached_isl_buckets");
        for (JsonNode bucket : array(path + bucketList, node.path(bucketList))) {
            buckets.add(bucket(path + bucketList + '.', bucket));
        }
        List<QueueClass> classes = new ArrayList<>();
        String classList = named(path, node, "classes", "policy_classes");
        for (JsonNode each : array(path + classList, node.path(classList))) {
            classes.add(queueClassAt(path + classList + '.', each));
        }
        JsonNode family = node.get("default_policy_family");
        String fallback = family == null
                ? classes.isEmpty()
                        ? QueueProfile.DEFAULT_CLASS
                        : classes.get(0).name()
                : text(path + "default_policy_family", family);
        return new QueueProfile(buckets, fallback, classes);
    }

    private static QueueProfile.Bucket bucket(String path, JsonNode node) {
        requireKnown(path, node, Set.of("name", "bucket", "from_tokens", "min_tokens"));
        String name = named(path, node, "name", "bucket");
        String start = named(path, node, "from_tokens", "min_tokens");
        Long from = integer(path + start, node.get(start));
        return new QueueProfile.Bucket(text(path + name, node.get(name)), from == null ? 0 : from);
    }

    /** Which of its two names a field goes by here: ours, or upstream's. */
    private static String named(String path, JsonNode node, String ours, String upstream) {
        if (node.has(ours) && node.has(upstream)) {
            throw new BadRequestException(path + upstream, node.get(upstream), "not beside " + ours);
        }
        return node.has(upstream) ? upstream : ours;
    }

    /** A value that a class refuses names only its own field; the path to it is added here. */
    private static QueueClass queueClassAt(String path, JsonNode node) {
        try {
            return queueClass(path, node);
        } catch (BadRequestException e) {
            throw e.field().startsWith(path)
                    ? e
                    : new BadRequestException(path + e.field(), e.value(), e.expectation());
        }
    }

    private static QueueClass queueClass(String path, JsonNode node) {
        requireKnown(
                path,
                node,
                Set.of(
                        "name",
                        "policy_family",
                        "cache_bucket",
                        "queue_policy",
                        "quantum",
                        "prefill_busy_threshold",
                        "prefill_busy_threshold_frac",
                        "busy_worker_ratio",
                        "request_queue_limit_per_worker",
                        "raw_isl_token_queue_limit_per_worker",
                        "cached_token_queue_limit_per_worker"));
        Long quantum = integer(path + "quantum", node.get("quantum"));
        return new QueueClass(
                text(path + "name", node.get("name")),
                optionalText(path + "policy_family", node.get("policy_family")),
                optionalText(path + "cache_bucket", node.get("cache_bucket")),
                queuePolicy(path + "queue_policy", optionalText(path + "queue_policy", node.get("queue_policy"))),
                quantum == null ? 1 : quantum,
                integer(path + "prefill_busy_threshold", node.get("prefill_busy_threshold")),
                number(path + "prefill_busy_threshold_frac", node.get("prefill_busy_threshold_frac")),
                number(path + "busy_worker_ratio", node.get("busy_worker_ratio")),
                new QueueClass.Limits(
                        integer(path + "request_queue_limit_per_worker", node.get("request_queue_limit_per_worker")),
                        integer(
                                path + "raw_isl_token_queue_limit_per_worker",
                                node.get("raw_isl_token_queue_limit_per_worker")),
                        integer(
                                path + "cached_token_queue_limit_per_worker",
                                node.get("cached_token_queue_limit_per_worker"))));
    }

    private static QueuePolicy queuePolicy(String field, @Nullable String name) {
        if (name == null || name.equals("fcfs")) {
            return QueuePolicy.FCFS;
        }
        if (name.equals("wspt")) {
            return QueuePolicy.WSPT;
        }
        throw new BadRequestException(field, name, "fcfs or wspt");
    }

    private static WorkerSelection workerSelection(JsonNode node) {
        SelectionConfigReader.requireObject("worker_selection", node);
        Map<Role, String> byRole = new EnumMap<>(Role.class);
        List<WorkerSelection.Instance> instances = new ArrayList<>();
        for (Map.Entry<String, JsonNode> field : node.properties()) {
            String path = "worker_selection." + field.getKey();
            if (field.getKey().equals("instances")) {
                for (JsonNode instance : array(path, field.getValue())) {
                    instances.add(instance(path + '.', instance));
                }
            } else {
                byRole.put(role(path, field.getKey()), text(path, field.getValue()));
            }
        }
        return new WorkerSelection(byRole, instances);
    }

    private static Role role(String path, String name) {
        for (Role role : Role.values()) {
            if (role.wireName().equals(name)) {
                return role;
            }
        }
        throw new BadRequestException(path, name, "instances, aggregated, prefill, decode or encode");
    }

    private static WorkerSelection.Instance instance(String path, JsonNode node) {
        requireKnown(path, node, Set.of("name", "type", "parameters"));
        Map<String, Object> parameters = new HashMap<>();
        JsonNode given = node.path("parameters");
        if (!given.isMissingNode()) {
            SelectionConfigReader.requireObject(path + "parameters", given);
        }
        for (Map.Entry<String, JsonNode> field : given.properties()) {
            parameters.put(field.getKey(), plain(path + "parameters." + field.getKey(), field.getValue()));
        }
        return new WorkerSelection.Instance(
                text(path + "name", node.get("name")), text(path + "type", node.get("type")), parameters);
    }

    private static Object plain(String field, JsonNode node) {
        return switch (node.getNodeType()) {
            case NUMBER -> node.numberValue();
            case STRING -> node.textValue();
            case BOOLEAN -> node.booleanValue();
            default ->
                throw new BadRequestException(
                        field, node.getNodeType().name().toLowerCase(Locale.ROOT), "a number, a text or a flag");
        };
    }

    // ---- typed reading

    private static void requireKnown(String path, JsonNode node, Set<String> known) {
        SelectionConfigReader.requireObject(path, node);
        node.fieldNames().forEachRemaining(name -> {
            if (!known.contains(name)) {
                throw new BadRequestException(path + name, node.get(name), "one of " + new TreeSet<>(known));
            }
        });
    }

    private static Iterable<JsonNode> array(String field, JsonNode node) {
        if (node.isMissingNode()) {
            return List.of();
        }
        if (!node.isArray()) {
            throw new BadRequestException(field, node.getNodeType(), "a list");
        }
        return node;
    }

    private static String text(String field, @Nullable JsonNode node) {
        String value = optionalText(field, node);
        if (value == null) {
            throw new BadRequestException(field, "none", "a text");
        }
        return value;
    }

    private static @Nullable String optionalText(String field, @Nullable JsonNode node) {
        if (node == null || node.isNull()) {
            return null;
        }
        if (!node.isTextual()) {
            throw new BadRequestException(field, node, "a text");
        }
        return node.textValue();
    }

    private static @Nullable Long integer(String field, @Nullable JsonNode node) {
        if (node == null || node.isNull()) {
            return null;
        }
        if (!node.isIntegralNumber() || !node.canConvertToLong()) {
            throw new BadRequestException(field, node, "an integer");
        }
        return node.longValue();
    }

    private static @Nullable Double number(String field, @Nullable JsonNode node) {
        if (node == null || node.isNull()) {
            return null;
        }
        if (!node.isNumber()) {
            throw new BadRequestException(field, node, "a number");
        }
        return node.doubleValue();
    }
}

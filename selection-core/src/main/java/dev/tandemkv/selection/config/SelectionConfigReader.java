package dev.tandemkv.selection.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.tandemkv.catalog.BadRequestException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads a configuration from JSON or from environment variables. Strict: an unknown field, a value of the wrong type or out of range, a
 * repeated field or text after the document is refused with the field's name, and nothing is read by half. Stateless.
 *
 * <p>JSON knows the settings of {@link SelectionConfig} under their upstream names, and {@code router_policy_config}: the path of a file,
 * or the tree itself, with queue classes and worker selection ({@link PolicyProfileReader}).
 */
public final class SelectionConfigReader {

    static final ObjectMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private static final String PROFILE = "router_policy_config";
    private static final String PROFILE_VARIABLE = "DYN_ROUTER_POLICY_CONFIG";

    private SelectionConfigReader() {}

    /** @throws BadRequestException naming the field and the value */
    public static SelectionConfig fromJson(String json) {
        return fromTree(parse("configuration", json));
    }

    /** @throws BadRequestException if the file cannot be read, or naming the field and the value */
    public static SelectionConfig fromFile(Path file) {
        return fromTree(parse("configuration", read("configuration", file)));
    }

    /** As {@link #fromJson}, of a document that was read elsewhere, for example from YAML. */
    public static SelectionConfig fromTree(JsonNode tree) {
        SelectionConfigBuilder builder = SelectionConfig.builder();
        requireObject("configuration", tree);
        for (Map.Entry<String, JsonNode> field : tree.properties()) {
            requireKnown(field.getKey(), field.getValue());
        }
        // In the order of the list, not of the document: a setting counts more than a former name of it.
        for (Setting<?> setting : Settings.ALL) {
            JsonNode value = tree.get(setting.name());
            if (value != null) {
                setting.readJson(value, builder);
            }
        }
        JsonNode profile = tree.get(PROFILE);
        if (profile != null) {
            readProfile(profile, builder);
        }
        return builder.build();
    }

    /**
     * Reads the {@code DYN_ROUTER_...} variables; those that are not set keep their defaults, others are not looked at.
     *
     * @throws BadRequestException naming the variable and the value
     */
    public static SelectionConfig fromEnvironment(Map<String, String> environment) {
        SelectionConfigBuilder builder = SelectionConfig.builder();
        Map<String, String> variables = new HashMap<>();
        for (Setting<?> setting : Settings.ALL) {
            for (String variable : setting.environment()) {
                String value = environment.get(variable);
                if (value != null) {
                    setting.readText(variable, value, builder);
                    variables.put(setting.name(), variable);
                    break;
                }
            }
        }
        String profile = environment.get(PROFILE_VARIABLE);
        if (profile != null) {
            PolicyProfileReader.read(parse(PROFILE_VARIABLE, read(PROFILE_VARIABLE, Path.of(profile))), builder);
        }
        try {
            return builder.build();
        } catch (BadRequestException e) {
            String variable = variables.get(e.field());
            throw variable == null ? e : new BadRequestException(variable, e.value(), e.expectation());
        }
    }

    private static void requireKnown(String name, JsonNode value) {
        if (!name.equals(PROFILE)
                && Settings.ALL.stream().noneMatch(known -> known.name().equals(name))) {
            throw new BadRequestException(name, value, "a known setting");
        }
    }

    private static void readProfile(JsonNode value, SelectionConfigBuilder builder) {
        JsonNode tree = value.isTextual() ? parse(PROFILE, read(PROFILE, Path.of(value.textValue()))) : value;
        PolicyProfileReader.read(tree, builder);
    }

    static void requireObject(String field, JsonNode node) {
        if (!node.isObject()) {
            throw new BadRequestException(field, node.getNodeType(), "an object");
        }
    }

    private static JsonNode parse(String what, String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            String where = e.getLocation() == null
                    ? "?"
                    : "line " + e.getLocation().getLineNr() + ", column "
                            + e.getLocation().getColumnNr();
            throw new BadRequestException(
                    what, "malformed at " + where, "one JSON document: " + e.getOriginalMessage());
        }
    }

    private static String read(String what, Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new BadRequestException(what, file, "a readable file");
        }
    }
}

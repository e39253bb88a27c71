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
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

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
        return fromTexts(environment, Map.of(), file -> parse(PROFILE_VARIABLE, read(PROFILE_VARIABLE, file)));
    }

    /**
     * Reads settings that are texts: variables, and options of a command line, which win.
     *
     * @param environment as for {@link #fromEnvironment}
     * @param options values by the {@linkplain #settings() name} of the setting, {@code router_policy_config} among them
     * @param profiles reads the file that {@code router_policy_config} names, for example from YAML
     * @throws BadRequestException naming the variable or the setting, and the value
     */
    public static SelectionConfig fromTexts(
            Map<String, String> environment, Map<String, String> options, Function<Path, JsonNode> profiles) {
        SelectionConfigBuilder builder = SelectionConfig.builder();
        Map<String, String> variables = new HashMap<>();
        Map<String, String> unread = new HashMap<>(options);
        for (Setting<?> setting : Settings.ALL) {
            String option = unread.remove(setting.name());
            if (option != null) {
                setting.readText(setting.name(), option, builder);
                continue;
            }
            for (String variable : setting.environment()) {
                String value = environment.get(variable);
                if (value != null) {
                    setting.readText(variable, value, builder);
                    variables.put(setting.name(), variable);
                    break;
                }
            }
        }
        String profile = unread.remove(PROFILE);
        String file = profile == null ? environment.get(PROFILE_VARIABLE) : profile;
        if (file != null) {
            PolicyProfileReader.read(profiles.apply(profilePath(file)), builder);
        }
        if (!unread.isEmpty()) {
            Map.Entry<String, String> unknown = unread.entrySet().iterator().next();
            throw new BadRequestException(unknown.getKey(), unknown.getValue(), "a known setting");
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

    /**
     * A setting, for whoever lists them.
     *
     * @param name in files
     * @param environment names in the environment, the first one that is set counts; may be empty
     * @param expectation what values it takes
     */
    public record SettingName(String name, List<String> environment, String expectation) {

        public SettingName {
            environment = List.copyOf(environment);
        }
    }

    /** Every setting that files and options know. */
    public static List<SettingName> settings() {
        return Stream.concat(
                        Settings.ALL.stream()
                                .map(each -> new SettingName(each.name(), each.environment(), each.expectation())),
                        Stream.of(new SettingName(PROFILE, List.of(PROFILE_VARIABLE), "the path of a file")))
                .toList();
    }

    private static void readProfile(JsonNode value, SelectionConfigBuilder builder) {
        JsonNode tree = value.isTextual() ? parse(PROFILE, read(PROFILE, profilePath(value.textValue()))) : value;
        PolicyProfileReader.read(tree, builder);
    }

    private static Path profilePath(String text) {
        Path path = Setting.path(text);
        if (path == null) {
            throw new BadRequestException(PROFILE, text, "the path of a file");
        }
        return path;
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

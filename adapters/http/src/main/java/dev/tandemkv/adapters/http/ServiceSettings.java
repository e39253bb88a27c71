package dev.tandemkv.adapters.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.selection.config.SelectionConfig;
import dev.tandemkv.selection.config.SelectionConfigReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;

/**
 * What a selection service is started with, read from a command line and the environment. Options are named like settings, with dashes:
 * {@code --router-queue-threshold 0.5}; a flag stands alone, or as {@code --no-...}. An option wins over its variable. Immutable.
 *
 * @param core settings of the core
 * @param host address to listen on; {@code --host}, {@code TANDEMKV_HOST}; default loopback
 * @param port {@code --port}, {@code TANDEMKV_PORT}; 0 takes any free one; default 8092
 * @param replicaSyncPort where replicas connect to; {@code --replica-sync-port}, {@code TANDEMKV_REPLICA_SYNC_PORT}; empty: no replica sync
 * @param unknownFields whether unknown fields of a request are refused; {@code --strict}, {@code TANDEMKV_STRICT}; default ignored
 * @param others options that are the caller's own, by name without dashes
 */
public record ServiceSettings(
        SelectionConfig core,
        String host,
        int port,
        OptionalInt replicaSyncPort,
        UnknownFields unknownFields,
        Map<String, String> others) {

    /** What happens to request fields that nobody knows. */
    public enum UnknownFields {
        IGNORED,
        REFUSED
    }

    private static final ObjectMapper YAML = YAMLMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private static final String LOOPBACK = "127.0.0.1";
    private static final int PORT = 8092;
    private static final int MOST_PORT = 65_535;

    public ServiceSettings {
        Objects.requireNonNull(core, "core");
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(replicaSyncPort, "replicaSyncPort");
        Objects.requireNonNull(unknownFields, "unknownFields");
        others = Map.copyOf(others);
    }

    /** @throws BadRequestException naming the option or the variable, and the value */
    public static ServiceSettings of(List<String> arguments, Map<String, String> environment) {
        return of(arguments, environment, Set.of());
    }

    /**
     * @param others names of options that are the caller's own, as settings are named
     * @throws BadRequestException naming the option or the variable, and the value
     */
    public static ServiceSettings of(List<String> arguments, Map<String, String> environment, Set<String> others) {
        Map<String, String> options = options(arguments);
        Taken own = new Taken(options, environment);
        String host = own.take("host", "TANDEMKV_HOST", LOOPBACK);
        int port = port("port", own.take("port", "TANDEMKV_PORT", Integer.toString(PORT)));
        String syncPort = own.take("replica_sync_port", "TANDEMKV_REPLICA_SYNC_PORT", "");
        String strict = own.take("strict", "TANDEMKV_STRICT", "false");
        Map<String, String> foreign = new HashMap<>(options);
        foreign.keySet().retainAll(others);
        options.keySet().removeAll(others);
        if (!syncPort.isEmpty()) {
            options.putIfAbsent("router_replica_sync", "true");
        }
        return new ServiceSettings(
                core(options, environment),
                host,
                port,
                syncPort.isEmpty() ? OptionalInt.empty() : OptionalInt.of(port("replica-sync-port", syncPort)),
                flag("strict", strict) ? UnknownFields.REFUSED : UnknownFields.IGNORED,
                foreign);
    }

    private static SelectionConfig core(Map<String, String> options, Map<String, String> environment) {
        try {
            return SelectionConfigReader.fromTexts(environment, options, ServiceSettings::readProfile);
        } catch (BadRequestException e) {
            throw options.containsKey(e.field())
                    ? new BadRequestException("--" + e.field().replace('_', '-'), e.value(), e.expectation())
                    : e;
        }
    }

    /** JSON is YAML too. */
    private static JsonNode readProfile(Path file) {
        try {
            return YAML.readTree(Files.readString(file));
        } catch (JsonProcessingException e) {
            throw new BadRequestException("router_policy_config", file, "one YAML document: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new BadRequestException("router_policy_config", file, "a readable file");
        }
    }

    /** The values of options by the names of their settings. */
    private static Map<String, String> options(List<String> arguments) {
        Map<String, String> options = new HashMap<>();
        Set<String> known = new HashSet<>();
        SelectionConfigReader.settings().forEach(setting -> known.add(setting.name()));
        for (int i = 0; i < arguments.size(); i++) {
            String argument = arguments.get(i);
            if (!argument.startsWith("--")) {
                throw new BadRequestException("argument", argument, "options, each beginning with --");
            }
            String name = argument.substring(2).toLowerCase(Locale.ROOT).replace('-', '_');
            boolean hasValue = i + 1 < arguments.size() && !arguments.get(i + 1).startsWith("--");
            String value = hasValue ? arguments.get(++i) : "true";
            boolean negated = name.startsWith("no_") && !known.contains(name);
            if (negated && hasValue) {
                throw new BadRequestException(argument, value, "no value behind it");
            }
            String setting = negated ? name.substring(3) : name;
            if (options.put(setting, negated ? "false" : value) != null) {
                throw new BadRequestException(argument, value, "the option once");
            }
        }
        return options;
    }

    /** Options that are taken out of the rest. */
    private record Taken(Map<String, String> options, Map<String, String> environment) {

        String take(String option, String variable, String otherwise) {
            String value = options.remove(option);
            return value == null ? environment.getOrDefault(variable, otherwise) : value;
        }
    }

    private static int port(String name, String text) {
        try {
            int port = Integer.parseInt(text);
            if (port >= 0 && port <= MOST_PORT) {
                return port;
            }
        } catch (NumberFormatException e) {
            // Refused below, like a number that is out of range.
        }
        throw new BadRequestException("--" + name, text, "0 to 65535");
    }

    private static boolean flag(String name, String text) {
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new BadRequestException("--" + name, text, "true or false");
        };
    }
}

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
 * {@code --router-queue-threshold 0.5} or {@code --router-queue-threshold=0.5}; a flag stands alone, or as {@code --no-...}. An option wins
 * over its variable. Immutable.
 *
 * @param core settings of the core
 * @param host address to listen on; {@code --host}, {@code TANDEMKV_HOST}; default loopback
 * @param port {@code --port}, {@code TANDEMKV_PORT}; 0 takes any free one; default 8092
 * @param replicaSyncPort where replicas connect to, at least 1; {@code --replica-sync-port}, {@code TANDEMKV_REPLICA_SYNC_PORT}; empty: no
 *     replica sync
 * @param unknownFields whether unknown fields of a request are refused; {@code --strict}, {@code TANDEMKV_STRICT}; default ignored
 * @param others what is set of the caller's own options, by the names it gave
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

    private static final String PROFILE = "router_policy_config";
    private static final String PROFILE_VARIABLE = "DYN_ROUTER_POLICY_CONFIG";
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
        return of(arguments, environment, Map.of());
    }

    /**
     * @param others options that are the caller's own: the variable of each by its name, written as settings are
     * @throws BadRequestException naming the option or the variable, and the value
     */
    public static ServiceSettings of(
            List<String> arguments, Map<String, String> environment, Map<String, String> others) {
        Set<String> alone = new HashSet<>();
        Map<String, String> options = options(arguments, alone);
        Taken own = new Taken(options, environment, alone);
        Given host = own.take("host", "TANDEMKV_HOST", LOOPBACK);
        Given port = own.take("port", "TANDEMKV_PORT", Integer.toString(PORT));
        Given syncPort = own.take("replica_sync_port", "TANDEMKV_REPLICA_SYNC_PORT", "");
        Given strict = own.takeFlag("strict", "TANDEMKV_STRICT");
        Map<String, String> foreign = new HashMap<>();
        others.forEach((option, variable) -> {
            Given other = own.take(option, variable, "");
            if (!other.isNone()) {
                foreign.put(option, other.value());
            }
        });
        if (!syncPort.isNone()) {
            options.putIfAbsent("router_replica_sync", "true");
        }
        return new ServiceSettings(
                core(options, environment),
                host.text(),
                port.port(0),
                syncPort.isNone() ? OptionalInt.empty() : OptionalInt.of(syncPort.port(1)),
                strict.flag() ? UnknownFields.REFUSED : UnknownFields.IGNORED,
                foreign);
    }

    private static SelectionConfig core(Map<String, String> options, Map<String, String> environment) {
        try {
            return SelectionConfigReader.fromTexts(environment, options, ServiceSettings::readProfile);
        } catch (BadRequestException e) {
            throw new BadRequestException(nameOf(e.field(), options), e.value(), e.expectation());
        }
    }

    /** Under which name a setting came that is faulty. */
    private static String nameOf(String setting, Map<String, String> options) {
        if (options.containsKey(setting)) {
            return "--" + setting.replace('_', '-');
        }
        return setting.equals(PROFILE) ? PROFILE_VARIABLE : setting;
    }

    /** JSON is YAML too. */
    private static JsonNode readProfile(Path file) {
        try {
            return YAML.readTree(Files.readString(file));
        } catch (JsonProcessingException e) {
            throw new BadRequestException(PROFILE, file, "one YAML document: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new BadRequestException(PROFILE, file, "a readable file");
        }
    }

    /**
     * The values of options by the names of their settings.
     *
     * @param alone collects the names of those that stood without a value, which makes them true
     */
    private static Map<String, String> options(List<String> arguments, Set<String> alone) {
        Map<String, String> options = new HashMap<>();
        Set<String> known = new HashSet<>();
        SelectionConfigReader.settings().forEach(setting -> known.add(setting.name()));
        for (int i = 0; i < arguments.size(); i++) {
            String given = arguments.get(i);
            if (!given.startsWith("--")) {
                throw new BadRequestException("argument", given, "options, each beginning with --");
            }
            int equals = given.indexOf('=');
            String argument = equals < 0 ? given : given.substring(0, equals);
            String name = argument.substring(2).toLowerCase(Locale.ROOT).replace('-', '_');
            boolean follows = equals < 0
                    && i + 1 < arguments.size()
                    && !arguments.get(i + 1).startsWith("--");
            boolean hasValue = equals >= 0 || follows;
            String value = equals >= 0 ? given.substring(equals + 1) : follows ? arguments.get(++i) : "true";
            boolean negated = name.startsWith("no_") && !known.contains(name);
            if (negated && hasValue) {
                throw new BadRequestException(argument, value, "no value behind it");
            }
            String setting = negated ? name.substring(3) : name;
            if (options.put(setting, negated ? "false" : value) != null) {
                throw new BadRequestException(argument, value, "the option once");
            }
            if (!hasValue) {
                alone.add(setting);
            }
        }
        return options;
    }

    /** Options that are taken out of the rest. */
    private record Taken(Map<String, String> options, Map<String, String> environment, Set<String> alone) {

        Given take(String option, String variable, String otherwise) {
            if (alone.contains(option)) {
                throw new BadRequestException("--" + option.replace('_', '-'), "none", "a value behind it");
            }
            return given(option, variable, otherwise);
        }

        Given takeFlag(String option, String variable) {
            return given(option, variable, "false");
        }

        private Given given(String option, String variable, String otherwise) {
            String value = options.remove(option);
            return value == null
                    ? new Given(variable, environment.getOrDefault(variable, otherwise))
                    : new Given("--" + option.replace('_', '-'), value);
        }
    }

    /**
     * A value under the name by which it came.
     *
     * @param name the option, or the variable
     * @param value empty where there is none
     */
    private record Given(String name, String value) {

        boolean isNone() {
            return value.isEmpty();
        }

        String text() {
            if (isNone()) {
                throw new BadRequestException(name, "empty", "a value");
            }
            return value;
        }

        int port(int least) {
            try {
                int port = Integer.parseInt(value);
                if (port >= least && port <= MOST_PORT) {
                    return port;
                }
            } catch (NumberFormatException e) {
                // Refused below, like a number that is out of range.
            }
            throw new BadRequestException(name, value, least + " to " + MOST_PORT);
        }

        boolean flag() {
            return switch (value) {
                case "true" -> true;
                case "false" -> false;
                default -> throw new BadRequestException(name, value, "true or false");
            };
        }
    }
}

package dev.tandemkv.selection.config;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tandemkv.catalog.BadRequestException;
import java.math.BigDecimal;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One setting as files and the environment name it. Reads a value from either, strictly: a value of another type, or none where one is
 * needed, is refused with the setting's name.
 *
 * @param name name in files
 * @param environment names in the environment, the first one that is set counts
 * @param json reads a JSON value; {@code null} means that it is of the wrong type
 * @param text reads a text; {@code null} means that it is malformed
 * @param expectation what is accepted
 * @param apply hands the value to the builder
 */
record Setting<T>(
        String name,
        List<String> environment,
        Function<JsonNode, @Nullable T> json,
        Function<String, @Nullable T> text,
        String expectation,
        BiConsumer<SelectionConfigBuilder, T> apply) {

    void readJson(JsonNode node, SelectionConfigBuilder into) {
        T value = node.isNull() ? null : json.apply(node);
        if (value == null) {
            throw new BadRequestException(name, node.isTextual() ? node.textValue() : node.toString(), expectation);
        }
        apply.accept(into, value);
    }

    void readText(String variable, String value, SelectionConfigBuilder into) {
        T read = text.apply(value.trim());
        if (read == null) {
            throw new BadRequestException(variable, value, expectation);
        }
        apply.accept(into, read);
    }

    static Setting<Double> number(
            String name, BiConsumer<SelectionConfigBuilder, Double> apply, String... environment) {
        return new Setting<>(
                name,
                List.of(environment),
                node -> node.isNumber() ? node.doubleValue() : null,
                Setting::parseDouble,
                "a number",
                apply);
    }

    static Setting<Long> integer(String name, BiConsumer<SelectionConfigBuilder, Long> apply, String... environment) {
        return new Setting<>(
                name,
                List.of(environment),
                node -> node.isIntegralNumber() && node.canConvertToLong() ? node.longValue() : null,
                Setting::parseLong,
                "an integer",
                apply);
    }

    static Setting<Integer> small(
            String name, BiConsumer<SelectionConfigBuilder, Integer> apply, String... environment) {
        return new Setting<>(
                name,
                List.of(environment),
                node -> node.isIntegralNumber() && node.canConvertToInt() ? node.intValue() : null,
                text -> {
                    Long value = parseLong(text);
                    return value == null || value != value.intValue() ? null : value.intValue();
                },
                "an integer of 32 bits",
                apply);
    }

    static Setting<Boolean> flag(
            String name, BiConsumer<SelectionConfigBuilder, Boolean> apply, String... environment) {
        return new Setting<>(
                name,
                List.of(environment),
                node -> node.isBoolean() ? node.booleanValue() : null,
                Setting::parseFlag,
                "true or false",
                apply);
    }

    static Setting<String> word(String name, BiConsumer<SelectionConfigBuilder, String> apply, String... environment) {
        return new Setting<>(
                name,
                List.of(environment),
                node -> node.isTextual() && !node.textValue().isEmpty() ? node.textValue() : null,
                text -> text.isEmpty() ? null : text,
                "a text",
                apply);
    }

    /** The path of a file, which is not looked at. */
    static Setting<Path> file(String name, BiConsumer<SelectionConfigBuilder, Path> apply, String... environment) {
        return new Setting<>(
                name,
                List.of(environment),
                node -> node.isTextual() ? path(node.textValue()) : null,
                Setting::path,
                "the path of a file",
                apply);
    }

    /** {@code null} where the text is no path. */
    static @Nullable Path path(String text) {
        try {
            return text.isEmpty() ? null : Path.of(text);
        } catch (InvalidPathException e) {
            return null;
        }
    }

    /** Seconds, fractions allowed. */
    static Setting<Duration> seconds(
            String name, BiConsumer<SelectionConfigBuilder, Duration> apply, String... environment) {
        return new Setting<>(
                name,
                List.of(environment),
                node -> node.isNumber() ? duration(node.doubleValue()) : null,
                text -> {
                    Double value = parseDouble(text);
                    return value == null ? null : duration(value);
                },
                "seconds, finite, at most 10^9",
                apply);
    }

    /** One of an enum's constants, by lower-case name with {@code -} or {@code _}. */
    static <E extends Enum<E>> Setting<E> choice(
            String name, E[] choices, BiConsumer<SelectionConfigBuilder, E> apply, String... environment) {
        Function<String, @Nullable E> find = text -> Arrays.stream(choices)
                .filter(c -> wire(c).equals(text.replace('-', '_')))
                .findFirst()
                .orElse(null);
        return new Setting<>(
                name,
                List.of(environment),
                node -> node.isTextual() ? find.apply(node.textValue()) : null,
                find,
                "one of " + Arrays.stream(choices).map(Setting::wire).toList(),
                apply);
    }

    private static String wire(Enum<?> choice) {
        return choice.name().toLowerCase(Locale.ROOT);
    }

    private static @Nullable Duration duration(double seconds) {
        return Math.abs(seconds) <= 1e9 ? Duration.ofNanos(Math.round(seconds * 1e9)) : null;
    }

    private static @Nullable Double parseDouble(String text) {
        try {
            // Stricter than Double.valueOf, which takes "1d" and "0x1p3" for numbers.
            return new BigDecimal(text).doubleValue();
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private static @Nullable Long parseLong(String text) {
        try {
            return Long.valueOf(text);
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private static @Nullable Boolean parseFlag(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "true", "1" -> true;
            case "false", "0" -> false;
            default -> null;
        };
    }
}

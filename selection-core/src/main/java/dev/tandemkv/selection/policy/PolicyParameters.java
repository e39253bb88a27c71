package dev.tandemkv.selection.policy;

import dev.tandemkv.catalog.BadRequestException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of one policy instance, read strictly: each is asked for by name and type, and one that nobody asked for is an error.
 * Not thread-safe.
 */
public final class PolicyParameters {

    private final String path;
    private final Map<String, Object> unread;

    PolicyParameters(String path, Map<String, Object> values) {
        this.path = path;
        this.unread = new TreeMap<>(values);
    }

    /** A number, or the default if it is not given. */
    public double number(String name, double otherwise) {
        Double given = optionalNumber(name);
        return given == null ? otherwise : given;
    }

    /** A number, or {@code null} if it is not given. */
    public @Nullable Double optionalNumber(String name) {
        Object value = unread.remove(name);
        if (value == null) {
            return null;
        }
        if (!(value instanceof Number number)) {
            throw error(name, value, "a number");
        }
        return number.doubleValue();
    }

    /** A number that must be given. */
    public double requiredNumber(String name) {
        Double given = optionalNumber(name);
        if (given == null) {
            throw error(name, "absent", "a number");
        }
        return given;
    }

    /** A text, or the default if it is not given. */
    public String text(String name, String otherwise) {
        Object value = unread.remove(name);
        if (value == null) {
            return otherwise;
        }
        if (!(value instanceof String text)) {
            throw error(name, value, "a text");
        }
        return text;
    }

    /** The error for a parameter of these, with its full name. */
    public BadRequestException error(String name, Object value, String expectation) {
        return new BadRequestException(path + '.' + name, value, expectation);
    }

    String path() {
        return path;
    }

    void requireAllRead() {
        for (Map.Entry<String, Object> left : unread.entrySet()) {
            throw error(left.getKey(), left.getValue(), "no such parameter");
        }
    }
}

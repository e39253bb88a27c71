package dev.tandemkv.selection.internal.replica;

import dev.tandemkv.catalog.BadRequestException;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the fields of a record that somebody else wrote; every failure is a {@link BadRequestException} that names the field. */
final class Fields {

    private Fields() {}

    /** A number whose bits these are. */
    static Number unsigned(long bits) {
        return bits >= 0 ? (Number) bits : new BigInteger(Long.toUnsignedString(bits));
    }

    static Map<?, ?> map(Map<?, ?> fields, String name) {
        if (fields.get(name) instanceof Map<?, ?> inner) {
            return inner;
        }
        throw new BadRequestException(name, "missing or no map", "a map");
    }

    static String text(Map<?, ?> fields, String name, int longest) {
        if (fields.get(name) instanceof String text && text.length() <= longest) {
            return text;
        }
        throw new BadRequestException(name, "missing, no text or too long", "text of at most " + longest);
    }

    static @Nullable String optionalText(Map<?, ?> fields, String name, int longest) {
        return fields.get(name) == null ? null : text(fields, name, longest);
    }

    static boolean flag(Map<?, ?> fields, String name, boolean missing) {
        Object value = fields.get(name);
        if (value == null) {
            return missing;
        }
        if (value instanceof Boolean flag) {
            return flag;
        }
        throw new BadRequestException(name, "no flag", "true or false");
    }

    static long unsigned(Map<?, ?> fields, String name, int bits) {
        return unsigned(name, fields.get(name), bits);
    }

    static @Nullable Long optional(Map<?, ?> fields, String name, int bits) {
        return fields.get(name) == null ? null : unsigned(fields, name, bits);
    }

    /** A list of unsigned 64-bit numbers, empty if there is none. */
    static long[] sequence(Map<?, ?> fields, String name, int longest) {
        Object value = fields.get(name);
        if (value == null) {
            return new long[0];
        }
        if (value instanceof long[] numbers && numbers.length <= longest) {
            return numbers;
        }
        if (!(value instanceof List<?> list) || list.size() > longest) {
            throw new BadRequestException(name, "no list or too long", "at most " + longest + " numbers");
        }
        long[] numbers = new long[list.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = unsigned(name, list.get(i), 64);
        }
        return numbers;
    }

    private static long unsigned(String name, @Nullable Object value, int bits) {
        if (value instanceof BigInteger big && big.signum() >= 0 && big.bitLength() <= bits) {
            return big.longValue();
        }
        if (value instanceof Long || value instanceof Integer) {
            long number = ((Number) value).longValue();
            if (number >= 0 && 64 - Long.numberOfLeadingZeros(number) <= bits) {
                return number;
            }
        }
        throw new BadRequestException(name, "missing or out of range", "an unsigned " + bits + "-bit number");
    }
}

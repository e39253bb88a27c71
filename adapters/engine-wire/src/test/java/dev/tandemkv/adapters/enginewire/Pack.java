package dev.tandemkv.adapters.enginewire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** Writes MessagePack for tests: lists are arrays, maps keep their order. */
public final class Pack {

    private Pack() {}

    public static byte[] bytes(@Nullable Object value) {
        try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
            write(packer, value);
            return packer.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A list that may hold nulls. */
    public static List<@Nullable Object> list(@Nullable Object... values) {
        return Arrays.asList(values);
    }

    /** Keys and values, one after the other. */
    public static Map<String, @Nullable Object> map(@Nullable Object... keysAndValues) {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return map;
    }

    /** A batch of these events with a timestamp of 0 and no rank. */
    public static byte[] batch(Object... events) {
        return bytes(list(0.0, Arrays.asList(events), null));
    }

    private static void write(MessageBufferPacker packer, @Nullable Object value) throws IOException {
        if (value == null) {
            packer.packNil();
        } else if (value instanceof List<?> elements) {
            packer.packArrayHeader(elements.size());
            for (Object element : elements) {
                write(packer, element);
            }
        } else if (value instanceof Map<?, ?> map) {
            packer.packMapHeader(map.size());
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                write(packer, entry.getKey());
                write(packer, entry.getValue());
            }
        } else if (value instanceof byte[] binary) {
            packer.packBinaryHeader(binary.length);
            packer.writePayload(binary);
        } else if (value instanceof String text) {
            packer.packString(text);
        } else if (value instanceof BigInteger integer) {
            packer.packBigInteger(integer);
        } else if (value instanceof Double number) {
            packer.packDouble(number);
        } else if (value instanceof Boolean truth) {
            packer.packBoolean(truth);
        } else {
            packer.packLong(((Number) value).longValue());
        }
    }
}

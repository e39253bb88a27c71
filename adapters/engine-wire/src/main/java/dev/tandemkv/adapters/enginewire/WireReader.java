package dev.tandemkv.adapters.enginewire;

import dev.tandemkv.adapters.enginewire.WireFormatException.Problem;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.core.buffer.ArrayBufferInput;
import org.msgpack.value.ValueType;

/**
 * A cursor over one payload: MessagePack values read one by one through msgpack-core, with our limits before every allocation.
 *
 * <p>msgpack-core checks that a read stays inside the payload; it believes announced lengths and counts, and its own skip adds them up in
 * an {@code int}. So every length and count is compared here with the bytes that are left (each element takes at least one) and with a
 * limit, and nested values are skipped by a stack of bounded depth.
 *
 * <p>Not thread-safe; lives for one payload. Methods throw what msgpack-core throws, which the decoder translates in one place; the field
 * named last by {@link #at} is the one that the error names.
 */
final class WireReader {

    private static final VarHandle BIG_ENDIAN_LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private final byte[] payload;
    private final WireLimits limits;
    private final MessageUnpacker unpacker;
    /** Where in the payload the unpacker's input begins. */
    private int base;

    private String field = "payload";

    /** Small objects that may still be made. */
    private int objects;

    WireReader(byte[] payload, WireLimits limits) {
        if (payload.length > limits.payloadBytes()) {
            throw new WireFormatException(
                    Problem.LIMIT_EXCEEDED, "payload", 0, payload.length + " bytes", "<= " + limits.payloadBytes());
        }
        this.payload = payload;
        this.limits = limits;
        this.objects = limits.objects();
        this.unpacker = MessagePack.newDefaultUnpacker(payload);
    }

    WireLimits limits() {
        return limits;
    }

    /** Names the field that is read next. */
    WireReader at(String name) {
        field = name;
        return this;
    }

    int offset() {
        return base + (int) unpacker.getTotalReadBytes();
    }

    int remaining() {
        return payload.length - offset();
    }

    /** Goes on reading at a position seen before. */
    void seek(int offset) throws IOException {
        unpacker.reset(new ArrayBufferInput(payload, offset, payload.length - offset));
        base = offset;
    }

    WireFormatException fail(Problem problem, String found, String expected) {
        return new WireFormatException(problem, field, Math.min(offset(), payload.length), found, expected);
    }

    WireFormatException fail(Problem problem, String found, String expected, Throwable cause) {
        return new WireFormatException(problem, field, Math.min(offset(), payload.length), found, expected, cause);
    }

    MessageFormat format() throws IOException {
        MessageFormat format = unpacker.getNextFormat();
        if (format == MessageFormat.NEVER_USED) {
            throw fail(Problem.MALFORMED, "byte 0xc1", "a MessagePack value");
        }
        return format;
    }

    ValueType type() throws IOException {
        return format().getValueType();
    }

    /** Consumes a nil if one comes next. */
    boolean takeNil() throws IOException {
        return unpacker.tryUnpackNil();
    }

    WireFormatException wrongType(String expected) throws IOException {
        return fail(Problem.WRONG_TYPE, type().name(), expected);
    }

    int arrayHeader(int limit) throws IOException {
        if (type() != ValueType.ARRAY) {
            throw wrongType("array");
        }
        return counted(unpacker.unpackArrayHeader(), 1, limit);
    }

    /** Number of pairs. */
    int mapHeader() throws IOException {
        if (type() != ValueType.MAP) {
            throw wrongType("map");
        }
        return counted(unpacker.unpackMapHeader(), 2, Integer.MAX_VALUE);
    }

    /** The header of an array whose elements become an object each: a byte can be one, and many of those would be a bomb. */
    int objectsHeader(int limit) throws IOException {
        int count = arrayHeader(limit);
        spend(count);
        return count;
    }

    private void spend(int count) {
        if (count > objects) {
            throw fail(Problem.LIMIT_EXCEEDED, "more than " + limits.objects() + " objects", "<= " + limits.objects());
        }
        objects -= count;
    }

    private int counted(int count, int bytesEach, int limit) {
        if (count > limit) {
            throw fail(Problem.LIMIT_EXCEEDED, count + " elements", "<= " + limit);
        }
        if ((long) count * bytesEach > remaining()) {
            throw fail(Problem.TRUNCATED, count + " elements in " + remaining() + " bytes", "all elements present");
        }
        return count;
    }

    String text() throws IOException {
        if (type() != ValueType.STRING) {
            throw wrongType("text");
        }
        byte[] utf8 = sized(unpacker.unpackRawStringHeader(), limits.textBytes());
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(utf8))
                    .toString();
        } catch (CharacterCodingException e) {
            // Two malformed names must not become one replaced name.
            throw fail(Problem.MALFORMED, utf8.length + " bytes of text", "UTF-8", e);
        }
    }

    byte[] binary(int limit) throws IOException {
        if (type() != ValueType.BINARY) {
            throw wrongType("bytes");
        }
        return sized(unpacker.unpackBinaryHeader(), limit);
    }

    private byte[] sized(int length, int limit) throws IOException {
        if (length > limit) {
            throw fail(Problem.LIMIT_EXCEEDED, length + " bytes", "<= " + limit);
        }
        if (length > remaining()) {
            throw fail(Problem.TRUNCATED, length + " bytes announced, " + remaining() + " left", "all bytes present");
        }
        return unpacker.readPayload(length);
    }

    /** Any integer modulo 2^64. */
    long integerBits() throws IOException {
        MessageFormat format = format();
        if (format.getValueType() != ValueType.INTEGER) {
            throw wrongType("integer");
        }
        if (format == MessageFormat.UINT64 && remaining() >= 9) {
            long bits = (long) BIG_ENDIAN_LONG.get(payload, offset() + 1);
            unpacker.skipValue();
            return bits;
        }
        return unpacker.unpackLong();
    }

    /** An integer from 0 to {@code max}. */
    long unsigned(long max) throws IOException {
        MessageFormat format = format();
        if (format.getValueType() != ValueType.INTEGER) {
            throw wrongType("unsigned integer");
        }
        long value = integerBits();
        if (value < 0 || value > max) {
            throw fail(Problem.OUT_OF_RANGE, "an integer outside", "0 to " + max);
        }
        return value;
    }

    /** Whether an unsigned integer of at most 63 bits comes next; consumes nothing. */
    boolean nextIsUnsigned() throws IOException {
        return switch (format()) {
            case POSFIXINT, UINT8, UINT16, UINT32 -> true;
            // The top bit of the first byte behind the format byte is the sign; an unsigned 64-bit number that has it
            // set is too big.
            case UINT64, INT8, INT16, INT32, INT64 -> offset() + 1 < payload.length && payload[offset() + 1] >= 0;
            default -> false;
        };
    }

    double number() throws IOException {
        return switch (type()) {
            case FLOAT -> unpacker.unpackDouble();
            case INTEGER -> unpacker.unpackBigInteger().doubleValue();
            default -> throw wrongType("number");
        };
    }

    String integerText() throws IOException {
        return unpacker.unpackBigInteger().toString();
    }

    boolean truth() throws IOException {
        return unpacker.unpackBoolean();
    }

    /** The next value with everything in it: text, numbers, lists and maps with text keys; bytes, and nil for the whole, are refused. */
    Object tree() throws IOException {
        Object tree = tree(0);
        if (tree == null) {
            throw fail(Problem.WRONG_TYPE, "NIL", "map or list");
        }
        return tree;
    }

    private @Nullable Object tree(int depth) throws IOException {
        ValueType type = type();
        if (isContainer(type) && depth == limits.depth()) {
            throw fail(Problem.LIMIT_EXCEEDED, "nesting", "<= " + limits.depth() + " levels");
        }
        return switch (type) {
            case NIL -> {
                unpacker.unpackNil();
                yield null;
            }
            case BOOLEAN -> truth();
            case INTEGER -> integerBits();
            case FLOAT -> number();
            case STRING -> text();
            case ARRAY -> {
                int count = objectsHeader(Integer.MAX_VALUE);
                List<@Nullable Object> elements = new ArrayList<>(count);
                for (int i = 0; i < count; i++) {
                    elements.add(tree(depth + 1));
                }
                yield elements;
            }
            case MAP -> {
                int pairs = mapHeader();
                spend(2 * pairs);
                Map<String, @Nullable Object> map = new LinkedHashMap<>();
                for (int i = 0; i < pairs; i++) {
                    map.put(text(), tree(depth + 1));
                }
                yield map;
            }
            case BINARY, EXTENSION -> throw wrongType("text, number, list or map");
        };
    }

    /** The bytes of the next value, whatever it is. */
    byte[] raw(int limit) throws IOException {
        int from = offset();
        skip();
        int length = offset() - from;
        if (length > limit) {
            throw fail(Problem.LIMIT_EXCEEDED, length + " bytes", "<= " + limit);
        }
        return Arrays.copyOfRange(payload, from, offset());
    }

    /** Skips the next value with everything in it. */
    void skip() throws IOException {
        if (!isContainer(type())) {
            unpacker.skipValue();
            return;
        }
        int[] pending = new int[limits.depth() + 1];
        int depth = 0;
        pending[0] = 1;
        while (depth >= 0) {
            if (pending[depth] == 0) {
                depth--;
                continue;
            }
            pending[depth]--;
            ValueType type = type();
            if (!isContainer(type)) {
                unpacker.skipValue();
                continue;
            }
            if (depth == limits.depth()) {
                throw fail(Problem.LIMIT_EXCEEDED, "nesting", "<= " + limits.depth() + " levels");
            }
            // A pair takes two bytes at least, so twice the pairs fits where the bytes do.
            pending[++depth] = type == ValueType.MAP ? 2 * mapHeader() : arrayHeader(Integer.MAX_VALUE);
        }
    }

    void skip(int values) throws IOException {
        for (int i = 0; i < values; i++) {
            skip();
        }
    }

    private static boolean isContainer(ValueType type) {
        return type == ValueType.ARRAY || type == ValueType.MAP;
    }
}

package dev.tandemkv.adapters.zmq.mesh;

import dev.tandemkv.selection.host.RecordCodec;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ValueType;

/**
 * Records as named MessagePack: maps with text as keys. A {@code long[]} is a list of unsigned 64-bit numbers, nine bytes each, which is
 * written and read without an object per number. What a payload announces is compared with the bytes it has left before anything is made,
 * and maps, lists, names and texts are counted: one byte of a payload can be an object of fifty. Thread-safe.
 */
final class MessagePackCodec implements RecordCodec {

    private static final int DEEPEST = 16;

    /** Maps, lists, names and texts of one record; ours have some twenty. */
    private static final int MOST_OBJECTS = 4_096;

    private static final byte UINT64 = (byte) 0xcf;
    private static final int UINT64_BYTES = 9;
    private static final VarHandle BIG_ENDIAN_LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    // ---- writing

    @Override
    public byte[] encode(Map<String, @Nullable Object> fields) {
        try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
            write(packer, fields);
            return packer.toByteArray();
        } catch (IOException e) {
            throw new IllegalStateException("a buffer in memory takes everything", e);
        }
    }

    private static void write(MessagePacker packer, @Nullable Object value) throws IOException {
        if (value == null) {
            packer.packNil();
        } else if (value instanceof String text) {
            packer.packString(text);
        } else if (value instanceof Boolean flag) {
            packer.packBoolean(flag);
        } else if (value instanceof Long || value instanceof Integer) {
            packer.packLong(((Number) value).longValue());
        } else if (value instanceof BigInteger number) {
            packer.packBigInteger(number);
        } else if (value instanceof long[] numbers) {
            writeNumbers(packer, numbers);
        } else if (value instanceof List<?> list) {
            packer.packArrayHeader(list.size());
            for (Object element : list) {
                write(packer, element);
            }
        } else if (value instanceof Map<?, ?> map) {
            packer.packMapHeader(map.size());
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                packer.packString((String) entry.getKey());
                write(packer, entry.getValue());
            }
        } else {
            throw new IllegalArgumentException("value: " + value.getClass() + " (expected: a kind of RecordCodec)");
        }
    }

    private static void writeNumbers(MessagePacker packer, long[] numbers) throws IOException {
        packer.packArrayHeader(numbers.length);
        byte[] bytes = new byte[Math.multiplyExact(numbers.length, UINT64_BYTES)];
        for (int i = 0; i < numbers.length; i++) {
            bytes[i * UINT64_BYTES] = UINT64;
            BIG_ENDIAN_LONG.set(bytes, i * UINT64_BYTES + 1, numbers[i]);
        }
        packer.addPayload(bytes);
    }

    // ---- reading

    @Override
    public Map<String, @Nullable Object> decode(byte[] payload) throws IOException {
        try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(payload)) {
            Reading reading = new Reading(unpacker, payload);
            if (unpacker.getNextFormat().getValueType() != ValueType.MAP) {
                throw new IOException("no record");
            }
            Map<String, @Nullable Object> record = reading.map(0);
            if (unpacker.hasNext()) {
                throw new IOException("more than one record");
            }
            return record;
        } catch (MessagePackException e) {
            throw new IOException("no MessagePack", e);
        }
    }

    /** One payload on its way through. */
    private static final class Reading {
        private final MessageUnpacker unpacker;
        private final byte[] payload;
        private int objects;

        Reading(MessageUnpacker unpacker, byte[] payload) {
            this.unpacker = unpacker;
            this.payload = payload;
        }

        private @Nullable Object value(int depth) throws IOException {
            return switch (unpacker.getNextFormat().getValueType()) {
                case NIL -> {
                    unpacker.unpackNil();
                    yield null;
                }
                case BOOLEAN -> unpacker.unpackBoolean();
                case INTEGER ->
                    unpacker.getNextFormat() == MessageFormat.UINT64
                            ? (Object) unpacker.unpackBigInteger()
                            : (Object) unpacker.unpackLong();
                case STRING -> text();
                case ARRAY -> list(depth + 1);
                case MAP -> map(depth + 1);
                default -> throw new IOException("a value of another kind");
            };
        }

        private String text() throws IOException {
            countObject();
            int bytes = unpacker.unpackRawStringHeader();
            requireLeft(bytes);
            return new String(unpacker.readPayload(bytes), StandardCharsets.UTF_8);
        }

        private Map<String, @Nullable Object> map(int depth) throws IOException {
            requireShallow(depth);
            countObject();
            int entries = unpacker.unpackMapHeader();
            requireLeft(2L * entries);
            Map<String, @Nullable Object> fields = new LinkedHashMap<>();
            for (int i = 0; i < entries; i++) {
                String name = text();
                if (fields.containsKey(name)) {
                    throw new IOException("a field twice");
                }
                fields.put(name, value(depth));
            }
            return fields;
        }

        private Object list(int depth) throws IOException {
            requireShallow(depth);
            countObject();
            int elements = unpacker.unpackArrayHeader();
            requireLeft(elements);
            if (elements > 0 && unpacker.getNextFormat() == MessageFormat.UINT64) {
                return numbers(elements);
            }
            List<@Nullable Object> list = new ArrayList<>();
            for (int i = 0; i < elements; i++) {
                list.add(value(depth));
            }
            return list;
        }

        /** A list that begins with a 64-bit number has numbers only. */
        private long[] numbers(int elements) throws IOException {
            long[] numbers = new long[elements];
            byte[] number = new byte[UINT64_BYTES];
            for (int i = 0; i < elements; i++) {
                if (unpacker.getNextFormat() == MessageFormat.UINT64) {
                    unpacker.readPayload(number);
                    numbers[i] = (long) BIG_ENDIAN_LONG.get(number, 1);
                } else {
                    numbers[i] = unpacker.unpackLong();
                    if (numbers[i] < 0) {
                        throw new IOException("a negative number among unsigned ones");
                    }
                }
            }
            return numbers;
        }

        private void countObject() throws IOException {
            if (++objects > MOST_OBJECTS) {
                throw new IOException("more than " + MOST_OBJECTS + " maps, lists and texts");
            }
        }

        private void requireLeft(long values) throws IOException {
            if (values > payload.length - unpacker.getTotalReadBytes()) {
                throw new IOException("less than it announces");
            }
        }

        private static void requireShallow(int depth) throws IOException {
            if (depth > DEEPEST) {
                throw new IOException("deeper than " + DEEPEST);
            }
        }
    }
}

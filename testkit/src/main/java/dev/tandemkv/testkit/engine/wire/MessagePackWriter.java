package dev.tandemkv.testkit.engine.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes MessagePack as engines do: every number and length in the shortest form. Written by hand so that what is fed to the decoder
 * shares nothing with it, and because the format's library would be the only dependency of this module that is no Java module
 * (docs/decisions). Not thread-safe.
 */
final class MessagePackWriter {

    private byte[] bytes = new byte[256];
    private int size;

    byte[] toByteArray() {
        return Arrays.copyOf(bytes, size);
    }

    /** {@code null}, a truth value, a number, a text, bytes, a list or a map of those, a hash or tokens. */
    void value(@Nullable Object value) {
        if (value == null) {
            octet(0xc0);
        } else if (value instanceof Boolean truth) {
            octet(truth ? 0xc3 : 0xc2);
        } else if (value instanceof Integer || value instanceof Long) {
            signed(((Number) value).longValue());
        } else if (value instanceof Double real) {
            real(real);
        } else if (value instanceof String text) {
            text(text);
        } else if (value instanceof byte[] data) {
            binary(data);
        } else if (value instanceof List<?> list) {
            arrayHeader(list.size());
            list.forEach(this::value);
        } else if (value instanceof Map<?, ?> map) {
            mapHeader(map.size());
            map.forEach((key, item) -> {
                value(key);
                value(item);
            });
        } else {
            throw new IllegalArgumentException("value: " + value.getClass().getSimpleName()
                    + " (expected: null, Boolean, Integer, Long, Double, String, byte[], List or Map)");
        }
    }

    void hash(EngineHash hash) {
        if (hash instanceof EngineHash.Unsigned) {
            unsigned(hash.value());
        } else if (hash instanceof EngineHash.Digest digest) {
            binary(digest.bytes());
        } else {
            signed(hash.value());
        }
    }

    void signed(long value) {
        if (value >= 0) {
            unsigned(value);
        } else if (value >= -32) {
            octet((int) value);
        } else if (value >= Byte.MIN_VALUE) {
            octet(0xd0);
            bigEndian(value, 1);
        } else if (value >= Short.MIN_VALUE) {
            octet(0xd1);
            bigEndian(value, 2);
        } else if (value >= Integer.MIN_VALUE) {
            octet(0xd2);
            bigEndian(value, 4);
        } else {
            octet(0xd3);
            bigEndian(value, 8);
        }
    }

    private void unsigned(long bits) {
        if (bits >= 0 && bits < 0x80) {
            octet((int) bits);
        } else if (bits >= 0 && bits <= 0xff) {
            octet(0xcc);
            bigEndian(bits, 1);
        } else if (bits >= 0 && bits <= 0xffff) {
            octet(0xcd);
            bigEndian(bits, 2);
        } else if (bits >= 0 && bits <= 0xffff_ffffL) {
            octet(0xce);
            bigEndian(bits, 4);
        } else {
            octet(0xcf);
            bigEndian(bits, 8);
        }
    }

    void real(double value) {
        octet(0xcb);
        bigEndian(Double.doubleToRawLongBits(value), 8);
    }

    void text(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        if (utf8.length < 32) {
            octet(0xa0 | utf8.length);
        } else {
            header(utf8.length, 0xd9, 0xda, 0xdb);
        }
        append(utf8);
    }

    private void binary(byte[] data) {
        header(data.length, 0xc4, 0xc5, 0xc6);
        append(data);
    }

    /** A length of one, two or four bytes. */
    private void header(int length, int one, int two, int four) {
        if (length <= 0xff) {
            octet(one);
            bigEndian(length, 1);
        } else if (length <= 0xffff) {
            octet(two);
            bigEndian(length, 2);
        } else {
            octet(four);
            bigEndian(length, 4);
        }
    }

    void arrayHeader(int count) {
        countHeader(count, count, 0x90, 0xdc);
    }

    void mapHeader(int count) {
        countHeader(count, count, 0x80, 0xde);
    }

    /** As engines' encoder writes it, which makes room for every pair that there could be before it knows how many there are. */
    void mapHeader(int count, int most) {
        countHeader(count, most, 0x80, 0xde);
    }

    private void countHeader(int count, int most, int small, int two) {
        if (most < 16) {
            octet(small | count);
        } else if (most <= 0xffff) {
            octet(two);
            bigEndian(count, 2);
        } else {
            octet(two + 1);
            bigEndian(count, 4);
        }
    }

    private void bigEndian(long value, int width) {
        for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
            octet((int) (value >>> shift));
        }
    }

    private void octet(int value) {
        ensure(1);
        bytes[size++] = (byte) value;
    }

    private void append(byte[] data) {
        ensure(data.length);
        System.arraycopy(data, 0, bytes, size, data.length);
        size += data.length;
    }

    private void ensure(int more) {
        if (size + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
        }
    }
}

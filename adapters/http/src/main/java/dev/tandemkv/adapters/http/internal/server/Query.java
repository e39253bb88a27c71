package dev.tandemkv.adapters.http.internal.server;

import dev.tandemkv.adapters.http.internal.wire.WireException;
import dev.tandemkv.catalog.SelectionException.Kind;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Percent-encoding, as paths and query strings use it. What is no valid escape stands for itself. Stateless. */
final class Query {

    private Query() {}

    /** @throws WireException if the parameter is given twice */
    static @Nullable String parameter(@Nullable String query, String name) throws WireException {
        String found = null;
        for (String pair : query == null ? new String[0] : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            String key = decode((equals < 0 ? pair : pair.substring(0, equals)).replace('+', ' '));
            if (key.equals(name)) {
                if (found != null) {
                    throw WireException.of(400, Kind.BAD_REQUEST, name + ": given twice (expected: once)");
                }
                found = equals < 0 ? "" : decode(pair.substring(equals + 1).replace('+', ' '));
            }
        }
        return found;
    }

    /** A part of a path; {@code null} if it is not UTF-8: no id is, and two of them would become the same. */
    static @Nullable String part(String text) {
        if (text.indexOf('%') < 0) {
            return text;
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes(text)))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    private static String decode(String text) {
        return text.indexOf('%') < 0 ? text : new String(bytes(text), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String text) {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream decoded = new ByteArrayOutputStream(encoded.length);
        for (int i = 0; i < encoded.length; i++) {
            int escaped = encoded[i] == '%' && i + 2 < encoded.length ? hex(encoded[i + 1], encoded[i + 2]) : -1;
            decoded.write(escaped < 0 ? encoded[i] : escaped);
            if (escaped >= 0) {
                i += 2;
            }
        }
        return decoded.toByteArray();
    }

    private static int hex(byte high, byte low) {
        int h = Character.digit(high, 16);
        int l = Character.digit(low, 16);
        return h < 0 || l < 0 ? -1 : h * 16 + l;
    }
}

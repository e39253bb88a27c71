package dev.tandemkv.adapters.http.internal.wire;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Whether bytes are UTF-8, strictly: the JSON parser lets overlong forms and surrogates pass. */
final class Utf8 {

    private Utf8() {}

    static boolean isValid(byte[] bytes, int length) {
        int ascii = 0;
        while (ascii < length && bytes[ascii] >= 0) {
            ascii++;
        }
        return ascii == length || isValidFrom(bytes, ascii, length);
    }

    private static boolean isValidFrom(byte[] bytes, int from, int length) {
        try {
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, from, length - from));
            return true;
        } catch (CharacterCodingException e) {
            return false;
        }
    }

    /** Whether a text read from JSON is one: an escaped half of a surrogate pair is none. */
    static boolean isText(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                boolean pair = Character.isHighSurrogate(c)
                        && i + 1 < text.length()
                        && Character.isLowSurrogate(text.charAt(i + 1));
                if (!pair) {
                    return false;
                }
                i++;
            }
        }
        return true;
    }
}

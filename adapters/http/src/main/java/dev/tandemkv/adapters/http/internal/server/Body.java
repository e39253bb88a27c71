package dev.tandemkv.adapters.http.internal.server;

import io.vertx.core.buffer.Buffer;
import java.util.Arrays;

/**
 * Collects the body of one request. It grows with what arrives, not with what was announced: a client pays for memory with bytes. Each byte
 * is copied once on arrival, and again where the array doubles. Confined to the connection's event loop.
 */
final class Body {

    private static final int FIRST_GUESS = 64 * 1024;
    private static final int LEAST = 512;

    private final int limit;
    private byte[] bytes;
    private int length;

    /** @param announced content length, or below 0 if unknown */
    Body(long announced, int limit) {
        this.limit = limit;
        bytes = new byte[(int) Math.min(announced < 0 ? LEAST : announced, FIRST_GUESS)];
    }

    /** Appends, unless the limit would be passed. */
    boolean append(Buffer chunk) {
        int all = length + chunk.length();
        if (all > limit) {
            return false;
        }
        if (all > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(all, Math.min(limit, bytes.length * 2)));
        }
        chunk.getBytes(bytes, length);
        length = all;
        return true;
    }

    /** Holds the body in its first {@link #length} bytes. */
    byte[] bytes() {
        return bytes;
    }

    int length() {
        return length;
    }
}

package dev.tandemkv.adapters.http.internal.wire;

import dev.tandemkv.catalog.SelectionException.Kind;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A request that the adapter itself refuses, before the library sees it. The status is finer than the kind: 413 with {@code BAD_REQUEST} is
 * a body that is too large.
 */
public final class WireException extends Exception {

    private static final long serialVersionUID = 1L;

    /**
     * A limit that was hit.
     *
     * @param limitKind which
     * @param current what the request would have made of it
     * @param maximum the limit
     */
    public record Limit(String limitKind, long current, long maximum) {

        public Limit {
            Objects.requireNonNull(limitKind, "limitKind");
        }
    }

    private final int status;
    private final Kind kind;
    private final transient @Nullable Limit limit;

    private WireException(int status, Kind kind, String message, @Nullable Limit limit) {
        super(message, null, false, false);
        this.status = status;
        this.kind = kind;
        this.limit = limit;
    }

    /** Not JSON, not UTF-8, a key that is no number: 400. */
    public static WireException malformed(String message) {
        return new WireException(400, Kind.BAD_REQUEST, message, null);
    }

    /** JSON of the wrong shape: 422. */
    public static WireException misshapen(String field, String found, String expectation) {
        return new WireException(
                422, Kind.BAD_REQUEST, field + ": " + found + " (expected: " + expectation + ")", null);
    }

    /** Anything else that has a status of its own. */
    public static WireException of(int status, Kind kind, String message) {
        return new WireException(status, kind, message, null);
    }

    public static WireException limited(int status, Kind kind, String message, Limit limit) {
        return new WireException(status, kind, message, limit);
    }

    public int status() {
        return status;
    }

    public Kind kind() {
        return kind;
    }

    /** The limit that was hit, or {@code null}. */
    public @Nullable Limit limit() {
        return limit;
    }
}

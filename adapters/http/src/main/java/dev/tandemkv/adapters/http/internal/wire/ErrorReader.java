package dev.tandemkv.adapters.http.internal.wire;

import dev.tandemkv.catalog.SelectionException.Kind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the body of an error, ours or the peer's, which has no kind: then the status says what it can.
 *
 * @param kind what went wrong
 * @param text what the service says of it
 */
public record ErrorReader(Kind kind, String text) {

    public static ErrorReader of(int status, byte[] body) {
        try {
            return JsonBody.read(body, body.length, JsonBody.UnknownFields.IGNORED, json -> read(status, json));
        } catch (WireException e) {
            return new ErrorReader(kindOf(status), "status " + status);
        }
    }

    private static ErrorReader read(int status, JsonBody body) throws IOException, WireException {
        List<String> text = new ArrayList<>();
        List<Kind> kind = new ArrayList<>();
        body.object("error", name -> {
            switch (name) {
                case "error" -> text.add(body.text(name));
                case "kind" -> kind.add(named(status, body.text(name)));
                default -> {
                    return false;
                }
            }
            return true;
        });
        return new ErrorReader(
                kind.isEmpty() ? kindOf(status) : kind.get(0), text.isEmpty() ? "status " + status : text.get(0));
    }

    private static Kind named(int status, String name) {
        for (Kind kind : Kind.values()) {
            if (kind.name().equals(name)) {
                return kind;
            }
        }
        return kindOf(status);
    }

    private static Kind kindOf(int status) {
        return switch (status) {
            case 400, 405, 408, 415, 422 -> Kind.BAD_REQUEST;
            case 404 -> Kind.NOT_FOUND;
            case 409 -> Kind.CONFLICT;
            case 413 -> Kind.EXCEEDS_CAPACITY;
            case 429 -> Kind.QUEUE_REJECTED;
            case 499 -> Kind.CANCELLED;
            case 503 -> Kind.NO_ELIGIBLE_WORKER;
            case 500 -> Kind.INTERNAL;
            default -> Kind.UNAVAILABLE;
        };
    }
}

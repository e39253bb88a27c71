package dev.tandemkv.adapters.http.internal.wire;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.tandemkv.adapters.http.internal.wire.WireException.Limit;
import dev.tandemkv.catalog.SelectionException;
import dev.tandemkv.selection.ExceedsCapacityException;
import dev.tandemkv.selection.QueueRejectedException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The body of every error: {@code {"error", "kind"}}, with {@code details} where a limit was hit. Stateless. */
public final class ErrorAnswers {

    private ErrorAnswers() {}

    public static byte[] of(WireException refused) {
        return error(refused.getMessage(), refused.kind(), json -> limit(json, refused.limit()));
    }

    public static byte[] of(SelectionException failed) {
        return error(failed.getMessage(), failed.kind(), json -> details(json, failed));
    }

    private static byte[] error(@Nullable String text, SelectionException.Kind kind, JsonText.Writer details) {
        return JsonText.of(json -> {
            json.writeStartObject();
            json.writeStringField("error", text == null ? kind.name() : text);
            json.writeStringField("kind", kind.name());
            details.write(json);
            json.writeEndObject();
        });
    }

    private static void details(JsonGenerator json, SelectionException failed) throws IOException {
        if (failed instanceof QueueRejectedException queue) {
            queue(json, queue);
        } else if (failed instanceof ExceedsCapacityException capacity) {
            limit(json, new Limit("kv_blocks", capacity.neededBlocks(), capacity.largestRankBlocks()));
        }
    }

    private static void queue(JsonGenerator json, QueueRejectedException queue) throws IOException {
        json.writeObjectFieldStart("details");
        json.writeStringField("policy_class", queue.policyClass());
        if (queue.limit() == QueueRejectedException.Limit.DO_NOT_QUEUE) {
            json.writeNumberField("pending_count", queue.pending().requests());
            json.writeNumberField("pending_isl_tokens", queue.pending().islTokens());
            json.writeNumberField("pending_cached_tokens", queue.pending().cachedTokens());
        } else {
            json.writeStringField("limit_kind", queue.limit().wireName());
            json.writeNumberField("current", queue.current());
            json.writeNumberField("limit", queue.maximum());
        }
        json.writeEndObject();
    }

    private static void limit(JsonGenerator json, @Nullable Limit limit) throws IOException {
        if (limit != null) {
            json.writeObjectFieldStart("details");
            json.writeStringField("limit_kind", limit.limitKind());
            JsonText.unsigned(json, "current", limit.current());
            JsonText.unsigned(json, "limit", limit.maximum());
            json.writeEndObject();
        }
    }
}

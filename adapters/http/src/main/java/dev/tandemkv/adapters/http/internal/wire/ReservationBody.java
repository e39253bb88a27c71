package dev.tandemkv.adapters.http.internal.wire;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.ReservationRequest;
import dev.tandemkv.selection.RouterConfigOverride;
import dev.tandemkv.selection.SelectRequest;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The body of {@code POST /reservations}. Read once. */
public final class ReservationBody {

    private final PromptFields prompt = new PromptFields();
    private String modelName = PartitionKey.DEFAULT_NAME;
    private String routingGroup = PartitionKey.DEFAULT_NAME;
    private @Nullable String selectionId;
    private @Nullable Long workerId;
    private int dpRank;
    private RouterConfigOverride override = RouterConfigOverride.NONE;
    private @Nullable Integer expectedOutputTokens;
    private @Nullable Long effectivePrefillTokens;
    private @Nullable Boolean trackPrefillTokens;

    private ReservationBody() {}

    public static ReservationBody read(JsonBody body) throws IOException, WireException {
        ReservationBody read = new ReservationBody();
        body.object("request body", name -> read.take(name, body));
        if (read.selectionId == null) {
            throw WireException.misshapen("selection_id", "missing", "a string");
        }
        return read;
    }

    private boolean take(String name, JsonBody body) throws IOException, WireException {
        switch (name) {
            case "model_name" -> modelName = body.text(name);
            case "routing_group" -> routingGroup = body.text(name);
            case "selection_id" -> selectionId = body.text(name);
            case "worker_id" -> workerId = body.isNull() ? null : Long.valueOf(body.bits64(name));
            case "dp_rank" -> dpRank = body.isNull() ? 0 : body.unsigned32(name);
            case "router_config_override" -> override = OverrideReader.read(body);
            case "expected_output_tokens" -> expectedOutputTokens = body.unsigned32OrNull(name);
            case "effective_prefill_tokens" -> effectivePrefillTokens = body.unsigned64OrNull(name);
            case "track_prefill_tokens" -> trackPrefillTokens = body.flagOrNull(name);
            default -> {
                return prompt.take(name, body);
            }
        }
        return true;
    }

    public PartitionKey partition() {
        return new PartitionKey(modelName, routingGroup);
    }

    public String selectionId() {
        if (selectionId == null) {
            throw new IllegalStateException("selection_id: missing (expected: refused when read)");
        }
        return selectionId;
    }

    /** Whether it books what an earlier selection decided. */
    public boolean isReplay() {
        return workerId == null;
    }

    /** @throws dev.tandemkv.catalog.BadRequestException if it books a prompt that is none */
    public ReservationRequest request() {
        if (workerId == null) {
            return ReservationRequest.replay(partition(), selectionId());
        }
        return ReservationRequest.explicit(
                        partition(), selectionId(), new WorkerRank(workerId, dpRank), prompt.promptForReservation())
                .withOverride(override)
                .withExpectedOutputTokens(expectedOutputTokens)
                .withEffectivePrefillTokens(fitting(effectivePrefillTokens))
                .withTrackPrefillTokens(trackPrefillTokens)
                .withRecording(
                        prompt.hasIndexKeys() ? SelectRequest.Recording.RECORDED : SelectRequest.Recording.SKIPPED);
    }

    /** The library's lengths are signed; the prompt's own was cut in the same way. */
    private static @Nullable Long fitting(@Nullable Long unsigned) {
        return unsigned != null && unsigned < 0 ? Long.valueOf(Long.MAX_VALUE) : unsigned;
    }
}

package dev.tandemkv.selection;

import dev.tandemkv.catalog.BadRequestException;
import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Asks for a booking without a decision: of what an earlier selection under the same id decided ({@link #replay}), or of a rank that the
 * caller names ({@link #explicit}). The booking is owned by its id.
 *
 * @param partition model and routing group
 * @param selectionId id of the booking
 * @param worker the rank, or {@code null} for a replay
 * @param prompt what is booked; only for an explicit one
 * @param override per-request configuration; only for an explicit one
 * @param expectedOutputTokens unsigned 32-bit, or {@code null}
 * @param effectivePrefillTokens prefill tokens to charge, at most the prompt's; without them none are charged
 * @param trackPrefillTokens whether they are charged; {@code null}: if they are given, else as configured
 * @param recording whether an explicit booking teaches an approximate index; a replay does as its selection asked
 */
public record ReservationRequest(
        PartitionKey partition,
        String selectionId,
        @Nullable WorkerRank worker,
        @Nullable Prompt prompt,
        RouterConfigOverride override,
        @Nullable Integer expectedOutputTokens,
        @Nullable Long effectivePrefillTokens,
        @Nullable Boolean trackPrefillTokens,
        SelectRequest.Recording recording) {

    /** @throws BadRequestException naming the field */
    public ReservationRequest {
        Objects.requireNonNull(partition, "partition");
        Objects.requireNonNull(selectionId, "selectionId");
        Objects.requireNonNull(override, "override");
        Objects.requireNonNull(recording, "recording");
        if (worker != null && prompt == null) {
            throw new BadRequestException("token_ids", "none", "a prompt for an explicit reservation");
        }
        if (effectivePrefillTokens != null && prompt != null) {
            boolean fits = effectivePrefillTokens >= 0 && effectivePrefillTokens <= prompt.islTokens();
            if (!fits) {
                throw new BadRequestException(
                        "effective_prefill_tokens", effectivePrefillTokens, "0 to " + prompt.islTokens());
            }
        }
    }

    /** Books what a selection under this id decided. */
    public static ReservationRequest replay(PartitionKey partition, String selectionId) {
        return new ReservationRequest(
                partition,
                selectionId,
                null,
                null,
                RouterConfigOverride.NONE,
                null,
                null,
                null,
                SelectRequest.Recording.RECORDED);
    }

    /** Books a prompt on a rank; no prefill load is charged. */
    public static ReservationRequest explicit(
            PartitionKey partition, String selectionId, WorkerRank worker, Prompt prompt) {
        return new ReservationRequest(
                partition,
                selectionId,
                worker,
                prompt,
                RouterConfigOverride.NONE,
                null,
                null,
                null,
                SelectRequest.Recording.RECORDED);
    }

    public ReservationRequest withEffectivePrefillTokens(@Nullable Long tokens) {
        return new ReservationRequest(
                partition,
                selectionId,
                worker,
                prompt,
                override,
                expectedOutputTokens,
                tokens,
                trackPrefillTokens,
                recording);
    }

    public ReservationRequest withTrackPrefillTokens(@Nullable Boolean track) {
        return new ReservationRequest(
                partition,
                selectionId,
                worker,
                prompt,
                override,
                expectedOutputTokens,
                effectivePrefillTokens,
                track,
                recording);
    }

    public ReservationRequest withExpectedOutputTokens(@Nullable Integer tokens) {
        return new ReservationRequest(
                partition,
                selectionId,
                worker,
                prompt,
                override,
                tokens,
                effectivePrefillTokens,
                trackPrefillTokens,
                recording);
    }

    public ReservationRequest withOverride(RouterConfigOverride newOverride) {
        return new ReservationRequest(
                partition,
                selectionId,
                worker,
                prompt,
                newOverride,
                expectedOutputTokens,
                effectivePrefillTokens,
                trackPrefillTokens,
                recording);
    }

    public ReservationRequest withRecording(SelectRequest.Recording newRecording) {
        return new ReservationRequest(
                partition,
                selectionId,
                worker,
                prompt,
                override,
                expectedOutputTokens,
                effectivePrefillTokens,
                trackPrefillTokens,
                newRecording);
    }
}

package dev.tandemkv.selection.internal.run;

import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.internal.partition.Attempt;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.reservation.CapturedSelection;
import org.jspecify.annotations.Nullable;

/** Turns a decided attempt into what callers see of it and into what can be replayed. */
final class Selections {

    private static final long[] NOT_BOOKED = {};

    private Selections() {}

    static Selection of(Partition in, Attempt attempt, @Nullable String selectionId) {
        boolean booked = attempt.entry() != null;
        return new Selection(
                selectionId,
                in.key(),
                attempt.worker(),
                attempt.spec().endpoint(),
                in.blockSize(),
                attempt.overlap(),
                attempt.prompt().islTokens(),
                attempt.cachedTokens(),
                attempt.effectivePrefillTokens(),
                attempt.potentialDecodeBlocks(),
                attempt.decodeBusy(),
                attempt.load(),
                booked ? attempt.prompt().trackingHashes() : NOT_BOOKED,
                attempt.trackPrefill(),
                attempt.waitedNanos());
    }

    /** Keeps the inputs of a plain selection under the caller's id. */
    static void remember(Engine engine, Partition in, Attempt attempt) {
        SelectRequest request = attempt.request();
        String id = request.selectionId();
        if (id != null) {
            engine.pending()
                    .put(new CapturedSelection(
                            in.key(),
                            id,
                            attempt.worker(),
                            attempt.prompt().blockHashes(),
                            attempt.prompt().trackingHashes(),
                            attempt.prompt().islTokens(),
                            attempt.effectivePrefillTokens(),
                            attempt.trackPrefill(),
                            request.expectedOutputTokens(),
                            request.prompt().loraName(),
                            request.session()));
        }
    }
}

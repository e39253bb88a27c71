package dev.tandemkv.selection.internal.run;

import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.indexer.hash.BlockHasher;
import dev.tandemkv.selection.LookupTimings;
import dev.tandemkv.selection.Prompt;
import dev.tandemkv.selection.ReservationRequest;
import dev.tandemkv.selection.SelectRequest;
import dev.tandemkv.selection.Selection;
import dev.tandemkv.selection.internal.partition.Attempt;
import dev.tandemkv.selection.internal.partition.Partition;
import dev.tandemkv.selection.internal.partition.PreparedPrompt;
import dev.tandemkv.selection.internal.reservation.CapturedSelection;
import org.jspecify.annotations.Nullable;

/** Turns a decided attempt into what callers see of it and into what can be replayed. */
final class Selections {

    private static final long[] NOT_BOOKED = {};

    private Selections() {}

    static Selection of(Partition in, Attempt attempt, @Nullable String selectionId) {
        boolean booked = attempt.entry() != null;
        LookupTimings timings = attempt.timings();
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
                booked ? trackingHashes(attempt) : NOT_BOOKED,
                attempt.trackPrefill(),
                attempt.hint(),
                attempt.waitedNanos(),
                timings == null ? LookupTimings.NONE : timings,
                attempt.rung(),
                attempt.explanation());
    }

    /** What names the blocks of a booking, also where no blocks are booked: a caller may book them elsewhere. */
    private static long[] trackingHashes(Attempt attempt) {
        PreparedPrompt prepared = attempt.prompt();
        if (prepared.trackingHashes().length > 0) {
            return prepared.trackingHashes();
        }
        if (attempt.request().prompt() instanceof Prompt.Hashes given) {
            return given.sequenceHashes();
        }
        long[] chain = new long[prepared.blockHashes().length];
        BlockHasher.chain(prepared.blockHashes(), chain.length, chain);
        return chain;
    }

    /** What an explicit reservation books. */
    static CapturedSelection explicit(Engine engine, Partition in, ReservationRequest request) {
        WorkerRank worker = request.worker();
        Prompt prompt = request.prompt();
        if (worker == null || prompt == null) {
            throw new IllegalArgumentException("an explicit reservation names a worker and a prompt");
        }
        PreparedPrompt prepared = in.hashing().prepare(prompt, request.override());
        long[] learned = request.recording() == SelectRequest.Recording.RECORDED ? prepared.blockHashes() : NOT_BOOKED;
        Long effective = request.effectivePrefillTokens();
        return new CapturedSelection(
                in.key(),
                request.selectionId(),
                worker,
                learned,
                prepared.trackingHashes(),
                prepared.islTokens(),
                effective == null ? 0 : effective,
                tracks(engine, request),
                request.expectedOutputTokens(),
                prompt.loraName(),
                null);
    }

    private static boolean tracks(Engine engine, ReservationRequest request) {
        if (request.trackPrefillTokens() != null) {
            return request.trackPrefillTokens();
        }
        if (request.effectivePrefillTokens() != null) {
            return true;
        }
        Boolean override = request.override().trackPrefillTokens();
        return override == null ? engine.core().config().tracking().prefillTokens() : override;
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

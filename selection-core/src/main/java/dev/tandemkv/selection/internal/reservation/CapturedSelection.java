package dev.tandemkv.selection.internal.reservation;

import dev.tandemkv.catalog.PartitionKey;
import dev.tandemkv.catalog.WorkerRank;
import dev.tandemkv.selection.SessionContext;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a selection decided, enough to book exactly that later. Immutable; the arrays must not be changed.
 *
 * @param partition where it was chosen
 * @param selectionId the caller's id
 * @param worker the chosen rank
 * @param blockHashes local hashes, for an approximate index; empty where the caller gave none
 * @param trackingHashes what the ledger books
 * @param islTokens prompt length
 * @param effectivePrefillTokens tokens to charge
 * @param trackPrefillTokens whether they are charged
 * @param expectedOutputTokens as asked
 * @param loraName as asked
 * @param session as asked; booking it holds the session
 */
public record CapturedSelection(
        PartitionKey partition,
        String selectionId,
        WorkerRank worker,
        long[] blockHashes,
        long[] trackingHashes,
        long islTokens,
        long effectivePrefillTokens,
        boolean trackPrefillTokens,
        @Nullable Integer expectedOutputTokens,
        @Nullable String loraName,
        @Nullable SessionContext session) {

    private static final long FIXED_BYTES = 256;

    public CapturedSelection {
        Objects.requireNonNull(partition, "partition");
        Objects.requireNonNull(selectionId, "selectionId");
        Objects.requireNonNull(worker, "worker");
    }

    /** About how much memory it keeps. */
    long approximateBytes() {
        return FIXED_BYTES
                + 8L * blockHashes.length
                + 8L * trackingHashes.length
                + 2L * selectionId.length()
                + 2L * (loraName == null ? 0 : loraName.length())
                + 2L * (session == null ? 0 : session.sessionId().length());
    }
}

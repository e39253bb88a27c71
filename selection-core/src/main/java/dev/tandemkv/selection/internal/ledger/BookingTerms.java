package dev.tandemkv.selection.internal.ledger;

import dev.tandemkv.selection.BookingId;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is booked, apart from the blocks.
 *
 * @param id the booking instance
 * @param prefill prefill load; {@link PrefillHint#NONE} where it is not tracked
 * @param expectedOutputTokens kept for replication, no load; unsigned 32-bit
 * @param loraName the adapter, or {@code null}
 * @param ownership who answers for it at first
 */
public record BookingTerms(
        BookingId id,
        PrefillHint prefill,
        @Nullable Integer expectedOutputTokens,
        @Nullable String loraName,
        Ownership ownership) {

    public BookingTerms {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(prefill, "prefill");
        Objects.requireNonNull(ownership, "ownership");
    }
}

package dev.tandemkv.selection;

import dev.tandemkv.catalog.PartitionKey;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A booking that was made without a decision.
 *
 * @param booking the instance
 * @param partition where
 * @param endpoint where the worker takes requests
 */
public record Reserved(
        BookingId booking, PartitionKey partition, @Nullable String endpoint) {

    public Reserved {
        Objects.requireNonNull(booking, "booking");
        Objects.requireNonNull(partition, "partition");
    }
}
